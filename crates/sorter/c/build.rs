//! Names the interface in the shared library: programs keep the version that they were linked with.

fn main() {
    let version = env!("CARGO_PKG_VERSION");
    let mut parts = version.split('.');
    let (major, minor) = (parts.next().unwrap_or("0"), parts.next().unwrap_or("0"));
    // Before 1.0 every minor version may change the interface.
    let interface = match major {
        "0" => format!("0.{minor}"),
        _ => major.to_owned(),
    };
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libgristmill.so.{interface}");
    println!("cargo::rerun-if-changed=build.rs");
}
