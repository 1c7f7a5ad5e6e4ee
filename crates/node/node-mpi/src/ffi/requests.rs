//! Requests to MPI, and the buffers that they work on.

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::ops::Range;
use std::thread;
use std::time::Duration;

use node::Buffer;

use super::exit::exit_now;
use super::library::{self, Table, text};
use crate::wire::{
    AllToAll, Completed, Hold, Holds, NetworkError, Request, TOO_LONG, Tag, Wire, Wired,
};

/// Launchers end all ranks within some tenths of a second after `MPI_Abort`; a process that is
/// still alive after this time ends itself.
const ABORT_LIMIT: Duration = Duration::from_secs(2);

/// The shim's code for a message that is longer than its receive.
const LONGER: c_int = -4;

/// MPI, on the thread that started it.
///
/// # Safety of the whole
/// MPI reads and writes memory between the call that begins a request and the one that reports it
/// as done. `holds` owns that memory, gives out no reference to it meanwhile, and refuses requests
/// that would write where others work. If this is dropped before requests are done, their memory
/// leaks. The type is neither `Send` nor `Sync` (it has raw pointers), so one thread makes all
/// calls.
pub(crate) struct MpiWire {
    table: &'static Table,
    rank: u32,
    size: u32,
    holds: Holds,
    /// The address of each hold's memory.
    begins: Vec<*mut u8>,
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    /// Room for the results of `completed`.
    done: Vec<c_int>,
    bytes: Vec<usize>,
    codes: Vec<c_int>,
}

/// A request under way.
#[derive(Clone, Copy)]
struct Slot {
    hold: Hold,
    peer: u32,
    receives: bool,
}

impl MpiWire {
    /// Opens the library and starts MPI on this thread.
    pub(crate) fn start() -> Wired<MpiWire> {
        let table = library::open()?;
        let mut wire = MpiWire {
            table,
            rank: 0,
            size: 0,
            holds: Holds::default(),
            begins: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
            done: Vec::new(),
            bytes: Vec::new(),
            codes: Vec::new(),
        };
        // SAFETY: this is the first call, and all later ones are on this thread.
        let code = unsafe { (table.init)() };
        wire.check(code, None)?;
        // SAFETY: MPI was started on this thread.
        let (rank, size) = unsafe { ((table.rank)(), (table.size)()) };
        (wire.rank, wire.size) = (rank as u32, size as u32);
        Ok(wire)
    }

    /// The library's name and version.
    pub(crate) fn library(&self) -> String {
        // SAFETY: it writes a text with its NUL, and no more than the room it is given.
        let text = text(|into, room| unsafe { (self.table.library)(into, room) });
        // The other lines describe the build.
        text.lines().next().unwrap_or_default().to_owned()
    }

    fn check(&self, code: c_int, peer: Option<u32>) -> Wired {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: it writes a text with its NUL, and no more than the room it is given.
        let words = text(|into, room| unsafe { (self.table.words)(code, into, room) });
        let what = format!("MPI: {}", words.replace('\n', "; "));
        Err(match peer {
            Some(peer) => NetworkError::of(peer, what),
            None => NetworkError::new(what),
        })
    }

    fn begin(&mut self, slot: Slot) -> usize {
        let number = self.free.pop().unwrap_or(self.slots.len());
        if number == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[number] = Some(slot);
        number
    }
}

impl Wire for MpiWire {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn hold(&mut self, mut buffer: Buffer) -> Hold {
        // The memory of a buffer is on the heap or mapped, so it stays when the buffer is moved.
        let memory = buffer.bytes_mut();
        let (begin, bytes) = (memory.as_mut_ptr(), memory.len());
        assert_eq!(bytes, buffer.capacity(), "all memory can be used");
        let hold = self.holds.add(buffer);
        if hold.0 == self.begins.len() {
            self.begins.push(begin);
        }
        self.begins[hold.0] = begin;
        hold
    }

    fn release(&mut self, hold: Hold) -> Buffer {
        self.holds.remove(hold)
    }

    fn held(&self, hold: Hold) -> &Buffer {
        self.holds.look(hold)
    }

    fn send(&mut self, hold: Hold, part: Range<usize>, to: u32, tag: Tag) -> Wired<Request> {
        self.holds.begin_send(hold, &part);
        let slot = self.begin(Slot {
            hold,
            peer: to,
            receives: false,
        });
        let (peer, tag) = (to as c_int, c_int::from(tag));
        // SAFETY: the part is inside the held buffer, as checked above, which stays until this slot
        // is done; nothing writes to it meanwhile.
        let code = unsafe {
            let from = self.begins[hold.0].add(part.start);
            (self.table.send)(slot as c_int, from.cast(), part.len(), peer, tag)
        };
        self.check(code, Some(to))?;
        Ok(Request(slot))
    }

    fn receive(&mut self, hold: Hold, part: Range<usize>, from: u32, tag: Tag) -> Wired<Request> {
        self.holds.begin_receive(hold, &part);
        let slot = self.begin(Slot {
            hold,
            peer: from,
            receives: true,
        });
        let (peer, tag) = (from as c_int, c_int::from(tag));
        // SAFETY: as in `send`; no other request works on this part, and there is no reference to
        // it.
        let code = unsafe {
            let into = self.begins[hold.0].add(part.start);
            (self.table.receive)(slot as c_int, into.cast(), part.len(), peer, tag)
        };
        self.check(code, Some(from))?;
        Ok(Request(slot))
    }

    fn completed(&mut self, done: &mut Vec<Completed>) -> Wired {
        let room = self.slots.len();
        self.done.resize(room, 0);
        self.bytes.resize(room, 0);
        self.codes.resize(room, 0);
        // SAFETY: three arrays with room for a result of every slot that was ever used.
        let count = unsafe {
            let (done, bytes) = (self.done.as_mut_ptr(), self.bytes.as_mut_ptr());
            (self.table.completed)(done, bytes, self.codes.as_mut_ptr(), room as c_int)
        };
        if count < 0 {
            return self.check(-count, None);
        }
        for each in 0..count as usize {
            let number = self.done[each] as usize;
            let slot = self.slots[number].take().expect("it was begun");
            self.free.push(number);
            self.holds.end(slot.hold);
            let bytes = match self.codes[each] {
                LONGER => TOO_LONG,
                code => self
                    .check(code, Some(slot.peer))
                    .map(|()| self.bytes[each])?,
            };
            done.push(Completed {
                request: Request(number),
                bytes,
            });
        }
        Ok(())
    }

    fn all_to_all(&mut self, all: &mut AllToAll) -> Wired {
        all.check(self.size as usize);
        let (from, into) = (all.sent.as_ptr(), all.received.as_mut_ptr());
        let (counts, taken) = (all.sent_bytes.as_ptr(), all.received_bytes.as_ptr());
        // SAFETY: two arrays with a length for each rank, whose sums are the lengths of the two
        // strings, as checked above. MPI was started on this thread, and uses none of them after
        // this call.
        let code = unsafe { (self.table.alltoallv)(from.cast(), counts, into.cast(), taken) };
        self.check(code, None)
    }

    fn barrier(&mut self) -> Wired {
        // SAFETY: MPI was started on this thread.
        let code = unsafe { (self.table.barrier)() };
        self.check(code, None)
    }

    fn abort(&mut self, code: i32) {
        // MPI asks a daemon to end all processes, which may be out of reach.
        let exit_late = move || {
            thread::sleep(ABORT_LIMIT);
            exit_now(code)
        };
        if thread::Builder::new().spawn(exit_late).is_err() {
            exit_now(code);
        }
        // SAFETY: MPI was started on this thread; this process ends in the call.
        unsafe { (self.table.abort)(code) }
    }

    fn end(&mut self) -> Wired {
        for number in 0..self.slots.len() {
            let receives = |slot: &mut Slot| slot.receives;
            let Some(slot) = self.slots[number].take_if(receives) else {
                continue;
            };
            // SAFETY: the slot has a request that is not done; it is done after this call.
            let code = unsafe { (self.table.cancel)(number as c_int) };
            self.check(code, Some(slot.peer))?;
            self.holds.end(slot.hold);
        }
        // SAFETY: no request is left, and no call follows.
        let code = unsafe { (self.table.finalize)() };
        self.check(code, None)
    }
}

impl Drop for MpiWire {
    fn drop(&mut self) {
        self.holds.forget_busy();
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::{c_char, c_void};

    use super::*;

    unsafe extern "C" fn none() -> c_int {
        0
    }
    unsafe extern "C" fn send(_: c_int, _: *const c_void, _: usize, _: c_int, _: c_int) -> c_int {
        0
    }
    unsafe extern "C" fn receive(_: c_int, _: *mut c_void, _: usize, _: c_int, _: c_int) -> c_int {
        0
    }
    unsafe extern "C" fn fails(_: *mut c_int, _: *mut usize, _: *mut c_int, _: c_int) -> c_int {
        -7
    }
    unsafe extern "C" fn code(_: c_int) -> c_int {
        0
    }
    unsafe extern "C" fn alltoallv(
        _: *const c_void,
        _: *const usize,
        _: *mut c_void,
        _: *const usize,
    ) -> c_int {
        0
    }
    unsafe extern "C" fn abort(_: c_int) {}
    unsafe extern "C" fn library(_: *mut c_char, _: usize) {}
    unsafe extern "C" fn words(code: c_int, into: *mut c_char, _: usize) {
        let text = if code == 7 { c"seven" } else { c"other" };
        // SAFETY: there is room for more than six bytes.
        unsafe { into.copy_from_nonoverlapping(text.as_ptr(), 6) };
    }

    static FAILING: Table = Table {
        version: 0,
        init: none,
        rank: none,
        size: none,
        send,
        receive,
        completed: fails,
        cancel: code,
        barrier: none,
        alltoallv,
        abort,
        finalize: none,
        library,
        words,
    };

    #[test]
    fn requests_that_cannot_be_looked_at_are_an_error() {
        let mut wire = MpiWire {
            table: &FAILING,
            rank: 0,
            size: 1,
            holds: Holds::default(),
            begins: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
            done: Vec::new(),
            bytes: Vec::new(),
            codes: Vec::new(),
        };
        let error = wire.completed(&mut Vec::new()).unwrap_err();
        assert!(format!("{error:?}").contains("MPI: seven"), "{error:?}");
    }
}
