//! The columns of record batches, and their rows as bytes.
//!
//! The crate `arrow-row` writes the values of columns so that the rows compare as the columns do. The
//! columns of the key come first. A half of a row whose columns are all fixed-size binary values is
//! written without that crate.

use std::iter::empty;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_row::{RowConverter, RowParser, Rows, SortField};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, SortOptions};
use gristmill::Format;

use crate::strides::{Stride, strides};

/// The columns of batches, and their order.
pub(crate) struct Columns {
    schema: SchemaRef,
    sorted: SchemaRef,
    key: Half,
    rest: Half,
    /// Bytes of both halves, if all rows have as many.
    widths: Option<(usize, usize)>,
}

/// Some of the columns.
struct Half {
    columns: Vec<usize>,
    strides: Option<Vec<Stride>>,
    converter: RowConverter,
    parser: RowParser,
}

impl Half {
    fn new(schema: &SchemaRef, columns: Vec<(usize, SortOptions)>) -> Result<Half, ArrowError> {
        let kinds = columns
            .iter()
            .map(|(column, options)| (schema.field(*column).data_type(), *options));
        let field =
            |(kind, options): (&DataType, _)| SortField::new_with_options(kind.clone(), options);
        let converter = RowConverter::new(kinds.clone().map(field).collect())?;
        let strides = strides(kinds);
        let parser = converter.parser();
        let columns = columns.into_iter().map(|(column, _)| column).collect();
        Ok(Half {
            columns,
            strides,
            converter,
            parser,
        })
    }

    fn rows(&self, batch: &RecordBatch) -> Result<Rows, ArrowError> {
        let columns: Vec<_> = self
            .columns
            .iter()
            .map(|&at| Arc::clone(batch.column(at)))
            .collect();
        if columns.is_empty() {
            Ok(self.converter.empty_rows(0, 0))
        } else {
            self.converter.convert_columns(&columns)
        }
    }

    /// Writes the values of a batch into a block of rows, which are zeros, from a place in each row
    /// on.
    fn write(
        &self,
        batch: &RecordBatch,
        block: &mut [u8],
        (width, from): (usize, usize),
    ) -> Result<(), ArrowError> {
        if let Some(strides) = &self.strides {
            for (stride, column) in strides.iter().zip(&self.columns) {
                let halves = block.chunks_exact_mut(width).map(|row| &mut row[from..]);
                stride.write(batch.column(*column), halves);
            }
            return Ok(());
        }
        let rows = self.rows(batch)?;
        for (number, row) in block.chunks_exact_mut(width).enumerate() {
            let half = rows.row(number);
            row[from..][..half.data().len()].copy_from_slice(half.data());
        }
        Ok(())
    }

    /// The columns of rows, each with its place in the schema.
    fn columns<'r>(
        &self,
        rows: impl Iterator<Item = &'r [u8]> + Clone,
    ) -> Result<Vec<(usize, ArrayRef)>, ArrowError> {
        let arrays = match &self.strides {
            Some(strides) => {
                let read = |stride: &Stride| stride.read(rows.clone());
                strides.iter().map(read).collect::<Result<_, _>>()?
            }
            None => {
                let rows = rows.map(|row| self.parser.parse(row));
                self.converter.convert_rows(rows)?
            }
        };
        Ok(self.columns.iter().copied().zip(arrays).collect())
    }
}

impl Columns {
    /// The columns of a schema by keys such as `price:desc`; without keys, all columns in turn.
    pub fn new(schema: SchemaRef, keys: &[String]) -> Result<Columns, String> {
        let mut key = Vec::new();
        for text in keys {
            let (column, options) = key_column(&schema, text)?;
            if key.iter().any(|(known, _)| *known == column) {
                return Err(format!("key '{text}': its column is a key before"));
            }
            key.push((column, options));
        }
        if keys.is_empty() {
            key = (0..schema.fields().len())
                .map(|at| (at, SortOptions::default()))
                .collect();
        }
        let is_rest = |at: &usize| key.iter().all(|(column, _)| column != at);
        let rest = (0..schema.fields().len()).filter(is_rest);
        let rest = rest.map(|at| (at, SortOptions::default())).collect();
        let told = |error: ArrowError| error.to_string();
        let mut columns = Columns {
            key: Half::new(&schema, key).map_err(told)?,
            rest: Half::new(&schema, rest).map_err(told)?,
            widths: None,
            sorted: Arc::clone(&schema),
            schema,
        };
        columns.widths = columns.fixed_widths();
        columns.sorted = columns.schema_of_rows().map_err(told)?;
        Ok(columns)
    }

    /// The schema of batches made of rows: dictionaries come back as their values.
    fn schema_of_rows(&self) -> Result<SchemaRef, ArrowError> {
        let fields = self.schema.fields().iter().zip(self.arrays(empty())?);
        let fields = fields.map(|(field, array)| {
            let field = field.as_ref().clone();
            field.with_data_type(array.data_type().clone())
        });
        let fields: Vec<_> = fields.collect();
        let metadata = self.schema.metadata().clone();
        Ok(Arc::new(Schema::new_with_metadata(fields, metadata)))
    }

    /// Bytes of both halves of a row of fixed-width columns: those of a row without values.
    fn fixed_widths(&self) -> Option<(usize, usize)> {
        let is_fixed = |field: &Arc<Field>| match field.data_type() {
            DataType::FixedSizeBinary(_) | DataType::Boolean => true,
            other => other.primitive_width().is_some(),
        };
        if !self.schema.fields().iter().all(is_fixed) {
            return None;
        }
        let null = |field: &Arc<Field>| arrow_array::new_null_array(field.data_type(), 1);
        let nulls: Vec<ArrayRef> = self.schema.fields().iter().map(null).collect();
        let width = |half: &Half| {
            let columns: Vec<_> = half
                .columns
                .iter()
                .map(|&at| Arc::clone(&nulls[at]))
                .collect();
            if columns.is_empty() {
                Some(0)
            } else {
                let rows = half.converter.convert_columns(&columns).ok()?;
                Some(rows.row(0).as_ref().len())
            }
        };
        Some((width(&self.key)?, width(&self.rest)?))
    }

    /// Rows as the library sorts them: of one length, or key and rest with their lengths.
    pub fn format(&self) -> Format {
        match self.widths {
            Some((key, rest)) => Format::fixed(key + rest).key(&format!("0+{key}")),
            None => Format::named("kv:u32le"),
        }
    }

    /// The schema of batches that go in.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The schema of batches that come back.
    pub fn sorted(&self) -> &SchemaRef {
        &self.sorted
    }

    /// Bytes of each row, if all have as many; otherwise each has the lengths of key and rest first.
    pub fn width(&self) -> Option<usize> {
        self.widths.map(|(key, rest)| key + rest)
    }

    /// The rows of a batch, if all have one length, one behind the other.
    pub fn block(&self, batch: &RecordBatch, block: &mut Vec<u8>) -> Result<(), ArrowError> {
        let (key, rest) = self.widths.expect("all rows have one length");
        let width = key + rest;
        block.clear();
        block.resize(batch.num_rows() * width, 0);
        self.key.write(batch, block, (width, 0))?;
        self.rest.write(batch, block, (width, key))
    }

    /// Keys and rests of the rows of a batch.
    pub fn rows(&self, batch: &RecordBatch) -> Result<(Rows, Rows), ArrowError> {
        Ok((self.key.rows(batch)?, self.rest.rows(batch)?))
    }

    pub fn has_rest(&self) -> bool {
        !self.rest.columns.is_empty()
    }

    /// Key and rest of a row.
    pub fn halves<'r>(&self, row: &'r [u8]) -> (&'r [u8], &'r [u8]) {
        match self.widths {
            Some((key, _)) => row.split_at(key),
            None => {
                let (key, row) = row.split_first_chunk().expect("both lengths");
                row[4..].split_at(u32::from_le_bytes(*key) as usize)
            }
        }
    }

    /// The batch of sorted rows.
    pub fn batch<'r>(
        &self,
        rows: impl Iterator<Item = &'r [u8]> + Clone,
    ) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(Arc::clone(&self.sorted), self.arrays(rows)?)
    }

    /// The columns of rows, in the order of the schema.
    fn arrays<'r>(
        &self,
        rows: impl Iterator<Item = &'r [u8]> + Clone,
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let halves = rows.map(|row| self.halves(row));
        let mut columns = self.key.columns(halves.clone().map(|(key, _)| key))?;
        columns.extend(self.rest.columns(halves.map(|(_, rest)| rest))?);
        columns.sort_by_key(|(at, _)| *at);
        Ok(columns.into_iter().map(|(_, column)| column).collect())
    }
}

/// A column with its direction: `city`, `price:desc`, `price:nulls-last`.
fn key_column(schema: &SchemaRef, text: &str) -> Result<(usize, SortOptions), String> {
    let mut options = SortOptions::default();
    let mut name = text;
    while let Some((before, word)) = name.rsplit_once(':') {
        match word {
            "desc" => options.descending = true,
            "nulls-last" => options.nulls_first = false,
            _ => break,
        }
        name = before;
    }
    match schema.index_of(name) {
        Ok(column) => Ok((column, options)),
        Err(_) => {
            let names: Vec<_> = schema
                .fields()
                .iter()
                .map(|field| field.name().as_str())
                .collect();
            Err(format!(
                "key '{text}': there is no column '{name}'; there are {}",
                names.join(", ")
            ))
        }
    }
}
