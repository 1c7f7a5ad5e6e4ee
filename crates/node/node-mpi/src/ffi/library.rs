//! Finds and opens the shim.

#![allow(unsafe_code)]

use std::env;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::wire::{NetworkError, Wired};

/// The environment variable that names a shim in another place.
const VARIABLE: &str = "GRISTMILL_MPI";

/// The file that `make mpi` makes.
const FILE: &str = "libgristmill_mpi.so";

/// A static program has no loader for the shim. The loader of musl answers every request with a
/// failure; that of glibc would open a second C library.
const STATIC: &str = "no MPI in a static build: for sorts on several hosts install the Debian \
    package, or build from source";

/// Increases with every change of the table.
const TABLE_VERSION: u32 = 1;

/// The longest text that the shim gives: MPI_MAX_LIBRARY_VERSION_STRING of MPICH.
const TEXT_BYTES: usize = 8192;

/// The functions of the shim, laid out as `struct table` in `shim/mpi_shim.c`. The version is
/// always first.
#[repr(C)]
pub(super) struct Table {
    pub version: u32,
    pub init: unsafe extern "C" fn() -> c_int,
    pub rank: unsafe extern "C" fn() -> c_int,
    pub size: unsafe extern "C" fn() -> c_int,
    pub send: unsafe extern "C" fn(c_int, *const c_void, usize, c_int, c_int) -> c_int,
    pub receive: unsafe extern "C" fn(c_int, *mut c_void, usize, c_int, c_int) -> c_int,
    pub completed: unsafe extern "C" fn(*mut c_int, *mut usize, *mut c_int, c_int) -> c_int,
    pub cancel: unsafe extern "C" fn(c_int) -> c_int,
    pub barrier: unsafe extern "C" fn() -> c_int,
    /// An all-to-all, as a yardstick for our exchange.
    pub alltoallv:
        unsafe extern "C" fn(*const c_void, *const usize, *mut c_void, *const usize) -> c_int,
    pub abort: unsafe extern "C" fn(c_int),
    pub finalize: unsafe extern "C" fn() -> c_int,
    pub library: unsafe extern "C" fn(*mut c_char, usize),
    pub words: unsafe extern "C" fn(c_int, *mut c_char, usize),
}

/// Finds and opens the shim.
pub(super) fn open() -> Wired<&'static Table> {
    let missing = |what| format!("a launcher started this process, but there is {what}");
    let path = find().map_err(|what| NetworkError::new(missing(what)))?;
    open_at(&path)
}

/// The path of the shim, or else the places that were searched, as a clause for a message.
fn find() -> Result<PathBuf, String> {
    if cfg!(target_feature = "crt-static") {
        return Err(STATIC.to_owned());
    }
    let places = places();
    let found = places.iter().find(|path| path.exists()).cloned();
    found.ok_or_else(|| {
        let places = places.iter().map(|path| path.display().to_string());
        let places = places.collect::<Vec<_>>().join(", ");
        format!("no {FILE}: looked for {places}. Make it with `make mpi`, or name it in {VARIABLE}")
    })
}

/// The shim of this installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shim {
    /// The path of the file.
    pub path: PathBuf,
    /// Name and version of the MPI library that it opens, or the reason why it cannot.
    pub library: Result<String, String>,
}

/// Finds and opens the shim without joining a run.
///
/// # Errors
/// When there is no shim: the places that were searched, and what to do.
pub fn shim() -> Result<Shim, String> {
    let path = find()?;
    let library = open_at(&path).map_err(|error| error.what).map(|table| {
        // SAFETY: it writes no more than the length that it is given, and the version is available
        // before MPI is initialised (MPI 3.1, 8.1.1).
        text(|into, room| unsafe { (table.library)(into, room) })
    });
    Ok(Shim { path, library })
}

fn places() -> Vec<PathBuf> {
    if let Some(path) = env::var_os(VARIABLE) {
        return vec![path.into()];
    }
    let executable = env::current_exe().and_then(|path| path.canonicalize());
    let executable = executable.unwrap_or_default();
    let directory = executable.parent().unwrap_or(Path::new("."));
    // Next to the program, in an installation, and in cargo's target directory.
    let places = [".", "../lib/gristmill", "../mpi"];
    places.map(|place| directory.join(place).join(FILE)).into()
}

fn open_at(path: &Path) -> Wired<&'static Table> {
    let failed = |what: &str, cause: String| {
        let path = path.display();
        NetworkError::new(format!(
            "{path} {what}: {cause}. Make it again with `make mpi`"
        ))
    };
    let name = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| failed("cannot be opened", "a NUL in its name".into()))?;
    // MPI opens plugins that need its symbols, so they must be global (Open MPI's manual).
    let flags = libc::RTLD_NOW | libc::RTLD_GLOBAL;
    // SAFETY: the name ends with a NUL. Opening runs the constructors of the MPI library that the
    // user has installed; the handle is never closed.
    let library = unsafe { libc::dlopen(name.as_ptr(), flags) };
    if library.is_null() {
        return Err(failed("cannot be opened", last_error()));
    }
    // SAFETY: an open library, and a name that ends with a NUL.
    let symbol = unsafe { libc::dlsym(library, c"gristmill_mpi".as_ptr()) };
    if symbol.is_null() {
        return Err(failed("is not the shim", last_error()));
    }
    // SAFETY: a library with another function of this name was named by the user.
    let table = unsafe { table_of(symbol) };
    table.map_err(|version| {
        let cause = format!("its version is {version}, and this program's is {TABLE_VERSION}");
        failed("does not fit", cause)
    })
}

/// The shim's table, or its version if that is another.
///
/// # Safety
/// The symbol is the function `gristmill_mpi` of shim/mpi_shim.c, of any version.
unsafe fn table_of(symbol: *mut c_void) -> Result<&'static Table, u32> {
    // SAFETY: the function takes no argument and returns a pointer.
    let get: extern "C" fn() -> *const Table = unsafe { std::mem::transmute(symbol) };
    let table = get();
    // SAFETY: the table is static, and every version of it begins with its version.
    let version = unsafe { table.cast::<u32>().read() };
    if version != TABLE_VERSION {
        return Err(version);
    }
    // SAFETY: a table of this version has the layout of `Table`, is static, and never changes.
    Ok(unsafe { &*table })
}

fn last_error() -> String {
    // SAFETY: the message, if there is one, is valid until this thread calls the loader again.
    unsafe {
        let message = libc::dlerror();
        let text = (!message.is_null()).then(|| CStr::from_ptr(message).to_string_lossy());
        text.map_or_else(|| "unknown cause".into(), |text| text.into_owned())
    }
}

/// The text that `fill` writes into the given room.
pub(super) fn text(fill: impl FnOnce(*mut c_char, usize)) -> String {
    let mut room = vec![0_u8; TEXT_BYTES];
    fill(room.as_mut_ptr().cast(), room.len());
    let text = CStr::from_bytes_until_nul(&room)
        .unwrap_or_default()
        .to_string_lossy();
    text.trim().replace('\t', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_shim_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "not a library").unwrap();
        let error = open_at(file.path()).err().unwrap().to_string();
        assert!(
            error.contains("cannot be opened") && error.contains("make mpi"),
            "{error}"
        );
        let error = open_at(Path::new("libm.so.6")).err().unwrap().to_string();
        assert!(error.contains("is not the shim"), "{error}");
    }
}
