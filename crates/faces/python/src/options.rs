//! Keyword arguments of a sort.

use std::num::NonZero;
use std::path::PathBuf;

use gristmill::{Format, Watch};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyString};

use crate::errors::option;
use crate::wait::Waiter;

/// The name of the format of record batches.
pub(crate) const ARROW: &str = "arrow";

pub(crate) enum Order {
    /// The keys of the format.
    Keys(Vec<String>),
    /// A function that makes the key of a record, and whether the largest is first.
    Function(Py<PyAny>, bool),
}

/// The lines that stay on top.
enum Head {
    /// The first row is one of values.
    None,
    /// Those of the format, or these.
    Lines(Vec<String>),
}

/// The records with equal keys that are kept.
enum Unique {
    No,
    First,
    Last,
}

pub(crate) struct Options {
    /// Name of the format; [`ARROW`] for batches.
    pub format: String,
    pub order: Order,
    separator: Option<u8>,
    delimiter: Option<u8>,
    header: Head,
    record_start: Option<String>,
    record_lines: Option<u32>,
    shuffle: Option<u64>,
    nulls: Vec<String>,
    short_rows: bool,
    pub stable: bool,
    unique: Unique,
    sums: Vec<String>,
    top: Option<u64>,
    memory: Option<u64>,
    threads: Option<NonZero<usize>>,
    temporary: Vec<PathBuf>,
    stripe: Option<NonZero<usize>>,
    longest: Option<usize>,
    bad_records: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
}

/// `header`: whether there is one, a number of lines, the first characters of each, or a list of those.
fn head(value: Option<Bound<'_, PyAny>>) -> PyResult<Head> {
    let Some(value) = value else {
        return Ok(Head::Lines(Vec::new()));
    };
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(if value.is_true() {
            Head::Lines(Vec::new())
        } else {
            Head::None
        });
    }
    let word = |value: &Bound<'_, PyAny>| -> PyResult<String> {
        let is_word = value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>();
        let text = value.str()?.to_string();
        let is_number = value.is_instance_of::<PyInt>();
        if is_word && !value.is_instance_of::<PyBool>() && !(is_number && text.starts_with('-')) {
            return Ok(text);
        }
        Err(PyTypeError::new_err(
            "header is True, False, a number of lines, the first characters of each, or a list of those",
        ))
    };
    let is_one = value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>();
    let is_list = !is_one && value.try_iter().is_ok();
    if !is_list {
        return Ok(Head::Lines(vec![word(&value)?]));
    }
    let words = value.try_iter()?.map(|each| word(&each?));
    Ok(Head::Lines(words.collect::<PyResult<_>>()?))
}

/// A text, or several.
fn words(name: &str, value: Option<Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    if let Ok(word) = value.extract::<String>() {
        return Ok(vec![word]);
    }
    let told = |_| PyTypeError::new_err(format!("{name} is a text or several texts"));
    let words = value.try_iter().map_err(told)?;
    words
        .map(|word| word?.extract::<String>().map_err(told))
        .collect()
}

impl Options {
    /// Reads the options that are given. The module's Python part gives no others.
    pub fn of(given: &Bound<'_, PyDict>) -> PyResult<Options> {
        let take = |name: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
            Ok(given.get_item(name)?.filter(|value| !value.is_none()))
        };
        let is = |name: &str, usual: bool| match take(name)? {
            Some(value) => value.is_truthy(),
            None => Ok(usual),
        };
        // The dictionary may live on in a traceback, and a line on the terminal stays until the last
        // reference to it goes.
        let progress = take("progress")?.map(Bound::unbind);
        if progress.is_some() {
            given.del_item("progress")?;
        }
        Ok(Options {
            format: extract(take("format")?)?.unwrap_or_else(|| "lines".to_owned()),
            order: order(take("key")?, is("reverse", false)?)?,
            separator: byte("separator", take("separator")?)?,
            delimiter: byte("delimiter", take("delimiter")?)?,
            header: head(take("header")?)?,
            record_start: extract(take("record_start")?)?,
            record_lines: number("record_lines", 1, take("record_lines")?)?,
            shuffle: number("shuffle", 0, take("shuffle")?)?,
            nulls: words("null", take("null")?)?,
            short_rows: is("short_rows", false)?,
            stable: is("stable", false)?,
            unique: unique(take("unique")?)?,
            sums: words("sum", take("sum")?)?,
            top: number("top", 0, take("top")?)?,
            memory: bytes(take("memory")?)?,
            threads: number("threads", 1, take("threads")?)?,
            temporary: take("temporary")?.map_or(Ok(Vec::new()), |value| paths(&value))?,
            stripe: number("stripe", 1, take("stripe")?)?,
            longest: number("longest", 1, take("longest")?)?,
            bad_records: extract(take("bad_records")?)?,
            progress,
        })
    }

    /// The sort of records in the format that was told.
    pub fn sorter(&self, watch: &Watch) -> gristmill::Sorter {
        let mut format = Format::named(&self.format);
        if let Order::Keys(keys) = &self.order {
            for key in keys {
                format = format.key(key);
            }
        }
        if let Some(separator) = self.separator {
            format = format.separator(separator);
        }
        if let Some(delimiter) = self.delimiter {
            format = format.delimiter(delimiter);
        }
        format = match &self.header {
            Head::None => format.without_header(),
            Head::Lines(lines) => lines.iter().fold(format, |format, it| format.header(it)),
        };
        if let Some(pattern) = &self.record_start {
            format = format.record_start(pattern);
        }
        if let Some(lines) = self.record_lines {
            format = format.record_lines(lines);
        }
        if let Some(seed) = self.shuffle {
            format = format.shuffled(seed);
        }
        format = self.nulls.iter().fold(format, |format, it| format.null(it));
        if self.short_rows {
            format = format.short_rows();
        }
        let sorter = self.sorter_of(format, watch);
        let sorter = self.sums.iter().fold(sorter, |sorter, it| sorter.sum(it));
        match &self.bad_records {
            Some(file) => sorter.bad_records(file),
            None => sorter,
        }
    }

    /// The first option of text or bytes, which record batches do not have.
    pub fn of_text(&self) -> Option<&'static str> {
        let given = [
            (!self.sums.is_empty(), "sum"),
            (self.bad_records.is_some(), "bad_records"),
            (!self.nulls.is_empty(), "null"),
            (self.short_rows, "short_rows"),
            (self.separator.is_some(), "separator"),
            (self.delimiter.is_some(), "delimiter"),
        ];
        let given = given.into_iter().find(|(is_given, _)| *is_given);
        given.map(|(_, name)| name)
    }

    /// The sort of records in another format.
    pub fn sorter_of(&self, format: Format, watch: &Watch) -> gristmill::Sorter {
        let mut sorter = gristmill::Sorter::new(format).watch(watch);
        if self.stable {
            sorter = sorter.stable();
        }
        sorter = match self.unique {
            Unique::No => sorter,
            Unique::First => sorter.unique(),
            Unique::Last => sorter.keep_last(),
        };
        if let Some(top) = self.top {
            sorter = sorter.top(top);
        }
        if let Some(memory) = self.memory {
            sorter = sorter.memory(memory);
        }
        if let Some(threads) = self.threads {
            sorter = sorter.threads(threads);
        }
        if let Some(longest) = self.longest {
            sorter = sorter.longest(longest);
        }
        if let Some(blocks) = self.stripe {
            sorter = sorter.stripe(blocks);
        }
        for directory in &self.temporary {
            sorter = sorter.temporary(directory);
        }
        sorter
    }

    /// The waiter, which takes the progress function.
    pub fn waiter(&mut self) -> Waiter {
        Waiter::new(Watch::new(), self.progress.take())
    }
}

fn extract<'py, T>(value: Option<Bound<'py, PyAny>>) -> PyResult<Option<T>>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    value.map(|value| value.extract()).transpose()
}

fn order(key: Option<Bound<'_, PyAny>>, reverse: bool) -> PyResult<Order> {
    let keys = match key {
        Some(call) if call.is_callable() => return Ok(Order::Function(call.unbind(), reverse)),
        _ if reverse => {
            let what = "reverse needs a key function; keys of a format end with r or :desc";
            return Err(option(what));
        }
        None => Vec::new(),
        Some(key) if key.is_instance_of::<PyString>() => vec![key.extract()?],
        Some(keys) => keys.extract()?,
    };
    Ok(Order::Keys(keys))
}

/// `True`, or one of the words for a record among those with equal keys.
fn unique(value: Option<Bound<'_, PyAny>>) -> PyResult<Unique> {
    let Some(value) = value else {
        return Ok(Unique::No);
    };
    match value.extract::<String>().as_deref() {
        Ok("first") => Ok(Unique::First),
        Ok("last") => Ok(Unique::Last),
        Ok(word) => Err(option(format!(
            "unique must be True, \"first\" or \"last\", not \"{word}\""
        ))),
        Err(_) if value.extract()? => Ok(Unique::First),
        Err(_) => Ok(Unique::No),
    }
}

/// A separator is one byte, as text or bytes.
fn byte(name: &str, value: Option<Bound<'_, PyAny>>) -> PyResult<Option<u8>> {
    let Some(value) = value else { return Ok(None) };
    let bytes = match value.extract::<String>() {
        Ok(text) => text.into_bytes(),
        Err(_) => value.extract::<Vec<u8>>()?,
    };
    match bytes[..] {
        [byte] => Ok(Some(byte)),
        _ => Err(option(format!("{name} must be one byte"))),
    }
}

/// The limit on memory, as a number of bytes or as a text such as `256M`.
fn bytes(value: Option<Bound<'_, PyAny>>) -> PyResult<Option<u64>> {
    let Some(value) = value else { return Ok(None) };
    let Ok(text) = value.extract::<String>() else {
        return number("memory", 1, Some(value));
    };
    let count = units::count(&text);
    let count = count.map_err(|wrong| option(format!("memory '{text}': {wrong}")))?;
    Ok(Some(count))
}

/// A number that must be at least `least`. The error of one out of range names the argument, which
/// Python's own does not.
pub(crate) fn number<'py, T>(
    name: &str,
    least: u8,
    value: Option<Bound<'py, PyAny>>,
) -> PyResult<Option<T>>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    let Some(value) = value else { return Ok(None) };
    let wrong = match value.extract() {
        Ok(number) => return Ok(Some(number)),
        Err(wrong) => wrong,
    };
    if wrong.is_instance_of::<PyTypeError>(value.py()) {
        return Err(wrong);
    }
    Err(option(if value.lt(least)? {
        format!("{name} must be at least {least}, not {value}")
    } else {
        format!("{name} is too large: {value}")
    }))
}

pub(crate) fn paths(value: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    match value.extract::<PathBuf>() {
        Ok(path) => Ok(vec![path]),
        Err(_) => value.try_iter()?.map(|path| path?.extract()).collect(),
    }
}
