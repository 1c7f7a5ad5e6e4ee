/* Gristmill sorts records that do not fit in memory: lines, rows, and binary records.
 *
 *     gristmill_new > options > gristmill_start > gristmill_push ... > gristmill_finish
 *         > gristmill_next ... (or gristmill_write_file) > gristmill_free
 *     gristmill_new > options > gristmill_sort_files > gristmill_free
 *
 * Results. Every call returns a status; GRISTMILL_OK is 0. gristmill_error() has the text of the
 * last failure. A sort that has failed tells the same failure again in each later call, except
 * where a status says that it goes on. Nothing is printed, no signal is handled, and the process
 * is never ended; nothing is global. (A mistake in Gristmill itself, GRISTMILL_BUG, may print a line
 * to the standard error.) A pipe whose reader has gone is an error: its write sends the program no
 * SIGPIPE, and SIGXFSZ neither beyond the limit of file sizes.
 *
 * Pointers. NULL gives GRISTMILL_ARGUMENT, where it is not allowed. Any other pointer must point
 * at what its parameter says. A text ends with 0; formats and keys are UTF-8, paths are any bytes,
 * and none is special: "-" is a file of that name.
 * What the caller passes is copied. A record that is lent belongs to the sorter and may only be read.
 *
 * Threads. Sorters are independent of each other. One sorter may go from thread to thread. While a
 * call uses it, another one returns GRISTMILL_BUSY at once; only gristmill_stop() and
 * gristmill_get_progress() may be called at any time. gristmill_free() is called once, when no other
 * call runs. After fork() the child gets GRISTMILL_FORKED, and may free the sorter.
 */
#ifndef GRISTMILL_H
#define GRISTMILL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a call. */
typedef enum gristmill_status {
    /* Done. */
    GRISTMILL_OK = 0,
    /* There are no more records. */
    GRISTMILL_END = 1,
    /* A format, a key or another option has a mistake. */
    GRISTMILL_OPTIONS = 2,
    /* The limit on memory is too low, or a record is longer than it allows. */
    GRISTMILL_MEMORY = 3,
    /* An input file is wrong: it ends within a record, is out of order, or changed meanwhile. */
    GRISTMILL_INPUT = 4,
    /* A record that was pushed is none of the format. It was left out; the sort goes on. */
    GRISTMILL_RECORD = 5,
    /* A file could not be opened, read or written. */
    GRISTMILL_FILE = 6,
    /* gristmill_stop was called. */
    GRISTMILL_STOPPED = 7,
    /* This process is a fork of the one that began the sort, which goes on there. */
    GRISTMILL_FORKED = 8,
    /* Records were lost or changed, on a disk or in memory. The check of the output found it. */
    GRISTMILL_DAMAGED = 9,
    /* The key function returned another value than 0. The record was left out; a sort of pushed
     * records goes on. */
    GRISTMILL_KEY = 10,
    /* An argument is NULL that must not be, or out of its range. */
    GRISTMILL_ARGUMENT = 11,
    /* The call is not allowed now: an option of a sort that has begun, a record after the end. */
    GRISTMILL_ORDER = 12,
    /* Another thread, or the key function that runs now, uses this sorter. */
    GRISTMILL_BUSY = 13,
    /* Another failure of the system. */
    GRISTMILL_OTHER = 14,
    /* A mistake in Gristmill itself. Please report it. */
    GRISTMILL_BUG = 15
} gristmill_status;

/* A sort. */
typedef struct gristmill_sorter gristmill_sorter;

/* The key of a record, which a key function fills. */
typedef struct gristmill_key gristmill_key;

/* Writes the key of a record with the gristmill_key_... functions, and returns 0. It gets the
 * pointer that gristmill_set_key_function got, and a record that it may only read.  Another
 * value than 0 ends the call that pushed the record with GRISTMILL_KEY. It must return: if it is
 * left by longjmp or an exception of C++, all behaviour is undefined. */
typedef int (*gristmill_key_function)(void *user, const uint8_t *record, size_t length,
                                      gristmill_key *key);

/* The result of a sort. */
typedef struct gristmill_report {
    /* Records written. */
    uint64_t records;
    /* Their bytes. */
    uint64_t bytes;
    /* The most bytes of temporary files at any time. */
    uint64_t temporary_bytes;
    /* The time that it took. */
    double seconds;
    /* How often a record was read and written: 1 if memory held all. */
    uint32_t passes;
    /* 1 if the output file was written in place, because it could not be replaced, else 0. */
    uint32_t in_place;
    /* Bytes of a temporary directory that was lost, read from the others. */
    uint64_t rebuilt_bytes;
    /* Records that stayed apart from those with their keys, because a total would not have fitted. */
    uint64_t apart;
    /* Records that were set aside for their mistakes. */
    uint64_t set_aside;
} gristmill_report;

/* How far a sort has come. */
typedef struct gristmill_progress {
    /* The phase: empty before the sort begins, then such as "sort" and "merge". */
    char phase[32];
    /* Bytes of the input that were read in this phase. */
    uint64_t read;
    /* Bytes of the output that were written in this phase. */
    uint64_t written;
    /* Bytes of all records; 0 if that is not known. */
    uint64_t total;
} gristmill_progress;

/* Makes a sorter of records in a format: "lines", "fixed:100", "csv", "varlen:u32le" or any
 * other that gristmill sort --format knows. Its mistakes are told when the sort begins. Free it
 * with gristmill_free(). */
gristmill_status gristmill_new(const char *format, gristmill_sorter **sorter);

/* Ends the sort if it goes on, removes its temporary files, and frees the sorter and all that it
 * has lent. No other call may use it meanwhile or afterwards. NULL is allowed. */
void gristmill_free(gristmill_sorter *sorter);

/* The text of the last failure of this sorter, "" if there was none: what happened, where, and
 * what to do. It stays until the next call that fails. While another call uses the sorter, it is
 * the text of GRISTMILL_BUSY. */
const char *gristmill_error(gristmill_sorter *sorter);

/* A short text for a status. It is never NULL, and is not freed. */
const char *gristmill_status_text(int status);

/* The version of the library, such as "0.1.0". It is not freed. */
const char *gristmill_version(void);

/* Adds a key, less significant than those before: "2,2n" of lines, "0+10" of records of one
 * length, "price:num:desc" of rows. Without keys, whole records are compared. */
gristmill_status gristmill_add_key(gristmill_sorter *sorter, const char *key);

/* Compares records by the keys that a function writes, instead of those of the format. It is
 * called once for each record, in their order, by the thread that pushes it or reads the files,
 * and sees a line without its delimiter, and a record without its length. Records with equal
 * keys keep their order. user goes to the function as it is. */
gristmill_status gristmill_set_key_function(gristmill_sorter *sorter,
                                            gristmill_key_function function, void *user);

/* The byte between the fields of a line, or the values of a row. */
gristmill_status gristmill_set_separator(gristmill_sorter *sorter, uint8_t separator);

/* The byte at the end of a line instead of a newline. */
gristmill_status gristmill_set_delimiter(gristmill_sorter *sorter, uint8_t delimiter);

/* Rows whose first one names no columns; keys have numbers, as in "#2:num". */
gristmill_status gristmill_set_without_header(gristmill_sorter *sorter);

/* Lines that stay on top, the same in all inputs: a number of them, as in "2", or the first bytes of
 * each, such as "#". Call it again for further ones: lines that begin so come first, and the number of
 * others follows. Of csv and tsv the last of those names the columns, 1 if no number is given. */
gristmill_status gristmill_add_header(gristmill_sorter *sorter, const char *lines);

/* Records of several lines, from files into a file: each begins with a line at whose front the pattern
 * is, a regular expression, such as "[0-9]{4}-". */
gristmill_status gristmill_set_record_start(gristmill_sorter *sorter, const char *pattern);

/* Records of so many lines each, from files into a file. */
gristmill_status gristmill_set_record_lines(gristmill_sorter *sorter, uint32_t lines);

/* Lines that are shuffled instead of sorted, from files into a file: each has the same chance of each
 * place, and the same seed gives the same order. With gristmill_set_top so many lines are drawn. */
gristmill_status gristmill_set_shuffle(gristmill_sorter *sorter, uint64_t seed);

/* A word that stands for a missing value, of rows and of keys of lines with types, such as "NA". Call it
 * again for further ones. */
gristmill_status gristmill_add_null(gristmill_sorter *sorter, const char *word);

/* Rows of csv and tsv may have fewer columns than the header; their values are missing. */
gristmill_status gristmill_set_short_rows(gristmill_sorter *sorter);

/* Keeps the order of records with equal keys. Otherwise the rest of their bytes decides. */
gristmill_status gristmill_set_stable(gristmill_sorter *sorter);

/* Keeps only the first of the records with equal keys. */
gristmill_status gristmill_set_unique(gristmill_sorter *sorter);

/* Keeps only the last of the records with equal keys. */
gristmill_status gristmill_set_keep_last(gristmill_sorter *sorter);

/* Adds up the numbers of a column in records with equal keys, exactly, into the one that is kept: a column
 * of rows as in a key, the number of a field of lines, or OFFSET+LENGTH:TYPE of records. Call it again for
 * more of them. */
gristmill_status gristmill_add_sum(gristmill_sorter *sorter, const char *column);

/* Sets rows with mistakes, and lines whose keys have types, aside in a file, which is replaced; without it, the
 * first mistake ends the sort. */
gristmill_status gristmill_set_bad_records(gristmill_sorter *sorter, const char *file);

/* Keeps only the first `records` of the sorted records. */
gristmill_status gristmill_set_top(gristmill_sorter *sorter, uint64_t records);

/* The limit on memory in bytes; 256 MiB if it is not set. Small sorts take less, and a limit above the
 * machine's memory is the machine's. */
gristmill_status gristmill_set_memory(gristmill_sorter *sorter, uint64_t bytes);

/* Threads that work at a time; as many as there are cores if it is not set, and no more than these or
 * 256. */
gristmill_status gristmill_set_threads(gristmill_sorter *sorter, size_t threads);

/* A directory for temporary files, best on a disk of its own; call it again for more of them.
 * Without one they go to $TMPDIR, or to /tmp. A relative one is below the directory that the process
 * has when the sort begins. */
gristmill_status gristmill_add_temporary(gristmill_sorter *sorter, const char *directory);

/* Protects temporary files by parity: stripes of so many blocks over one directory more, each added
 * by gristmill_add_temporary and best on a disk of its own. One of them may be lost while the sort
 * goes on. */
gristmill_status gristmill_set_stripe(gristmill_sorter *sorter, size_t blocks);

/* Bytes of the longest line or record with a length that is pushed, if it exceeds a 256th of the
 * memory. */
gristmill_status gristmill_set_longest(gristmill_sorter *sorter, size_t bytes);

/* Stops the sort, from any thread and at any time before gristmill_free(): it removes its files,
 * and the call that waits for it returns GRISTMILL_STOPPED. If none waits, the files go with the
 * next call, at the latest gristmill_free(). */
gristmill_status gristmill_stop(gristmill_sorter *sorter);

/* How far the sort has come, from any thread and at any time before gristmill_free(). */
gristmill_status gristmill_get_progress(gristmill_sorter *sorter, gristmill_progress *progress);

/* Begins a sort of records that are pushed. No option can be set from now on. */
gristmill_status gristmill_start(gristmill_sorter *sorter);

/* Adds a record, which is copied. A line may lack its delimiter, which is added. Waits while the
 * sort is behind. */
gristmill_status gristmill_push(gristmill_sorter *sorter, const uint8_t *record, size_t length);

/* Adds count records, which lie one behind the other: the first has lengths[0] bytes. If one is
 * refused, those before it were added, and those behind it were not. pushed may be NULL, or gets
 * their number. */
gristmill_status gristmill_push_many(gristmill_sorter *sorter, const uint8_t *records,
                                     const size_t *lengths, size_t count, size_t *pushed);

/* Adds whole records that lie one behind the other, as in a file; their format says where they
 * end. If one is refused, those before it were added, and those behind it were not. */
gristmill_status gristmill_push_bytes(gristmill_sorter *sorter, const uint8_t *bytes,
                                      size_t length);

/* Ends the input. The records come back in order. */
gristmill_status gristmill_finish(gristmill_sorter *sorter);

/* Lends the next record, with its delimiter or length, until the next call with this sorter.
 * Returns GRISTMILL_END behind the last one; rely on the records only then, since lost or
 * changed ones are found at the end. The header of rows comes first. */
gristmill_status gristmill_next(gristmill_sorter *sorter, const uint8_t **record,
                                size_t *length);

/* Lends some of the next records, one behind the other, and their lengths, until the next call
 * with this sorter. Returns GRISTMILL_END, and 0 records, behind the last one. */
gristmill_status gristmill_next_many(gristmill_sorter *sorter, const uint8_t **records,
                                     const size_t **lengths, size_t *count);

/* Writes all records that are left to a file, which gets its name when it is complete and
 * durable. Otherwise the name keeps its old content. report may be NULL. */
gristmill_status gristmill_write_file(gristmill_sorter *sorter, const char *path,
                                      gristmill_report *report);

/* The result of a sort whose last record was read or written. */
gristmill_status gristmill_get_report(gristmill_sorter *sorter, gristmill_report *report);

/* Sorts count files into a file, which appears in one step when it is complete; it may be one of
 * them. If the sort fails, the name keeps its old content. report may be NULL. */
gristmill_status gristmill_sort_files(gristmill_sorter *sorter, const char *const *inputs,
                                      size_t count, const char *output,
                                      gristmill_report *report);

/* Merges count files that are sorted into a file, without sorting them again. report may be
 * NULL. */
gristmill_status gristmill_merge_files(gristmill_sorter *sorter, const char *const *inputs,
                                       size_t count, const char *output,
                                       gristmill_report *report);

/* Sorts count files whose records are then read with gristmill_next(), without
 * gristmill_start(). */
gristmill_status gristmill_read_files(gristmill_sorter *sorter, const char *const *inputs,
                                      size_t count);

/* Looks for the first record of a file that is out of order: number gets its number, from 1, or
 * 0 if all are in order. record and length may be NULL, or get the record, which is lent until
 * the next call with this sorter. */
gristmill_status gristmill_check_file(gristmill_sorter *sorter, const char *file,
                                      uint64_t *number, const uint8_t **record, size_t *length);

/* Adds an unsigned number to a key; with descending not 0, large ones come first. */
gristmill_status gristmill_key_u64(gristmill_key *key, uint64_t value, int descending);

/* Adds a signed number to a key; with descending not 0, large ones come first. */
gristmill_status gristmill_key_i64(gristmill_key *key, int64_t value, int descending);

/* Adds a number to a key, in the total order of IEEE 754: -0 before 0, NaN at the ends. */
gristmill_status gristmill_key_f64(gristmill_key *key, double value, int descending);

/* Adds bytes of any number to a key, such as a text. They are compared as unsigned bytes, and a
 * beginning comes before what it begins. */
gristmill_status gristmill_key_bytes(gristmill_key *key, const uint8_t *bytes, size_t length,
                                     int descending);

/* Adds bytes to a key as they are: for keys that the program has encoded. No such key may be the
 * beginning of another one. */
gristmill_status gristmill_key_raw(gristmill_key *key, const uint8_t *bytes, size_t length);

#ifdef __cplusplus
}
#endif

#endif
