//! The shim: where it is, and what it has.

#![allow(unsafe_code)]

use std::env;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::wire::{NetworkError, Wired};

/// Names the shim to use, for whoever keeps it elsewhere.
const VARIABLE: &str = "GRISTMILL_MPI";

/// What `make mpi` makes.
const FILE: &str = "libgristmill_mpi.so";

/// Counted up with every change of the table.
const TABLE_VERSION: u32 = 1;

/// Longest text that the shim is asked for: MPI_MAX_LIBRARY_VERSION_STRING of MPICH.
const TEXT_BYTES: usize = 8192;

/// The shim's functions, as `struct table` in `shim/mpi_shim.c` has them. The version comes first
/// and stays there.
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
    /// One exchange of all with all: what ours is to be measured against.
    pub alltoallv:
        unsafe extern "C" fn(*const c_void, *const usize, *mut c_void, *const usize) -> c_int,
    pub abort: unsafe extern "C" fn(c_int),
    pub finalize: unsafe extern "C" fn() -> c_int,
    pub library: unsafe extern "C" fn(*mut c_char, usize),
    pub words: unsafe extern "C" fn(c_int, *mut c_char, usize),
}

/// Opens the shim.
pub(super) fn open() -> Wired<&'static Table> {
    let found = find().map_err(|nowhere| {
        NetworkError::new(format!(
            "a launcher started this process, but there is {nowhere}"
        ))
    });
    open_at(&found?)
}

/// Where the shim is; else where it was looked for.
fn find() -> Result<PathBuf, String> {
    let places = places();
    places
        .iter()
        .find(|path| path.exists())
        .cloned()
        .ok_or_else(|| {
            let places: Vec<_> = places
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            let places = places.join(", ");
            format!(
                "no {FILE}: looked for {places}. Make it with `make mpi`, or name it in {VARIABLE}"
            )
        })
}

/// The shim that is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shim {
    /// Where it is.
    pub path: PathBuf,
    /// The MPI library that it opens, in its words; else why it cannot.
    pub library: Result<String, String>,
}

/// Looks for the shim and opens it, without joining a run.
///
/// # Errors
/// Where it was looked for, and what to do.
pub fn shim() -> Result<Shim, String> {
    let path = find()?;
    let library = open_at(&path).map_err(|error| error.what).map(|table| {
        // SAFETY: the text is filled up to the length that is given, and a library may be asked for
        // its version before it is initialised (MPI 3.1, 8.1.1).
        text(|into, room| unsafe { (table.library)(into, room) })
    });
    Ok(Shim { path, library })
}

fn places() -> Vec<PathBuf> {
    if let Some(path) = env::var_os(VARIABLE) {
        return vec![path.into()];
    }
    let executable = env::current_exe()
        .and_then(|path| path.canonicalize())
        .unwrap_or_default();
    let beside = executable.parent().unwrap_or(Path::new("."));
    // Beside it, where it is installed, and where cargo and make put both.
    [".", "../lib/gristmill", "../mpi"]
        .map(|place| beside.join(place).join(FILE))
        .to_vec()
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
    // MPI opens parts of itself that look for its symbols: all must see them (Open MPI's manual).
    let flags = libc::RTLD_NOW | libc::RTLD_GLOBAL;
    // SAFETY: the name ends with a NUL. Opening runs the library's constructors, those of the MPI
    // library that the user has installed; the handle is never closed.
    let library = unsafe { libc::dlopen(name.as_ptr(), flags) };
    if library.is_null() {
        return Err(failed("cannot be opened", last_error()));
    }
    // SAFETY: an open library, and a name that ends with a NUL.
    let symbol = unsafe { libc::dlsym(library, c"gristmill_mpi".as_ptr()) };
    if symbol.is_null() {
        return Err(failed("is not the shim", last_error()));
    }
    // SAFETY: the symbol of that name is the function of shim/mpi_shim.c that takes nothing and
    // gives a pointer; a library that has another of that name was named by the user.
    let get: extern "C" fn() -> *const Table = unsafe { std::mem::transmute(symbol) };
    let table = get();
    // SAFETY: the table is static, and begins with its version whatever else it has.
    let version = unsafe { table.cast::<u32>().read() };
    if version != TABLE_VERSION {
        let cause = format!("its version is {version}, and this program's is {TABLE_VERSION}");
        return Err(failed("does not fit", cause));
    }
    // SAFETY: a table of this version is laid out as `Table`, is static, and never changes.
    Ok(unsafe { &*table })
}

fn last_error() -> String {
    // SAFETY: the message, if there is one, stays until the thread's next call to the loader.
    unsafe {
        let message = libc::dlerror();
        let text = (!message.is_null()).then(|| CStr::from_ptr(message).to_string_lossy());
        text.map_or_else(|| "unknown cause".into(), |text| text.into_owned())
    }
}

/// A text that `fill` writes.
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
    fn what_is_no_shim_is_told() {
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
