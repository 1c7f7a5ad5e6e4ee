/* The few MPI calls that Gristmill makes, as a table of functions.
 *
 * MPI libraries share no binary interface: types, handles and constants differ. So this file is
 * compiled against the installed library (`make mpi`), and hides MPI's types: a request is a slot
 * number, a peer is a rank, a result is 0 or a code that `words` explains.
 *
 * The thread that calls `init` makes all calls (MPI_THREAD_FUNNELED). */

#include <limits.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Increases with every change of the table. */
#define TABLE_VERSION 1

/* MPI's counts are ints, so no call carries more than 1 GiB. */
#define MOST_BYTES ((size_t)1 << 30)

/* Our own codes; MPI's are positive. */
#define TOO_LONG (-1)
#define NO_MEMORY (-2)
#define NO_THREADS (-3)
#define LONGER (-4)

struct table {
    uint32_t version;
    int (*init)(void);
    int (*rank)(void);
    int (*size)(void);
    /* Begins a request; the memory must stay until the slot is done. */
    int (*send)(int slot, const void *from, size_t bytes, int peer, int tag);
    int (*receive)(int slot, void *into, size_t bytes, int peer, int tag);
    /* Slots that are done, with the bytes received and a code each; returns their number, or minus a code. */
    int (*completed)(int *slots, size_t *bytes, int *codes, int room);
    /* Ends a receive that no peer will answer. */
    int (*cancel)(int slot);
    int (*barrier)(void);
    /* All-to-all; counts and offsets are bytes, and each must fit in an int. */
    int (*alltoallv)(const void *from, const size_t *counts, void *into, const size_t *taken);
    void (*abort)(int code);
    int (*finalize)(void);
    void (*library)(char *text, size_t room);
    void (*words)(int code, char *text, size_t room);
};

/* Up to version 4, Open MPI has the host's daemon print warnings, and waits for it in the middle of
 * a call: when a host is lost, it waits until it is killed, and the loss is not reported. After this
 * function, which other libraries do not have, a process prints warnings itself. */
extern void orte_show_help_finalize(void) __attribute__((weak));

static MPI_Request *requests;
static MPI_Status *statuses;
static int room_for;
static int slots_used;

static int init(void) {
    int granted = MPI_THREAD_FUNNELED, here;
    int code = MPI_Initialized(&here);
    if (code == MPI_SUCCESS && !here)
        code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &granted);
    if (code == MPI_SUCCESS && granted < MPI_THREAD_FUNNELED)
        return NO_THREADS;
    if (code == MPI_SUCCESS)
        code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS && orte_show_help_finalize != NULL)
        orte_show_help_finalize();
    return code;
}

static int rank(void) {
    int number = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    return number;
}

static int size(void) {
    int number = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &number);
    return number;
}

/* Makes room for a slot; returns 0 or NO_MEMORY. */
static int has_room(int slot) {
    if (slot >= room_for) {
        int wanted = slot < 64 ? 128 : 2 * slot;
        MPI_Request *more = realloc(requests, wanted * sizeof *more);
        if (more != NULL)
            requests = more;
        MPI_Status *told = realloc(statuses, wanted * sizeof *told);
        if (told != NULL)
            statuses = told;
        if (more == NULL || told == NULL)
            return NO_MEMORY;
        room_for = wanted;
    }
    while (slots_used <= slot)
        requests[slots_used++] = MPI_REQUEST_NULL;
    return 0;
}

static int send(int slot, const void *from, size_t bytes, int peer, int tag) {
    if (bytes > MOST_BYTES)
        return TOO_LONG;
    int code = has_room(slot);
    if (code != 0)
        return code;
    return MPI_Isend(from, (int)bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &requests[slot]);
}

static int receive(int slot, void *into, size_t bytes, int peer, int tag) {
    if (bytes > MOST_BYTES)
        return TOO_LONG;
    int code = has_room(slot);
    if (code != 0)
        return code;
    return MPI_Irecv(into, (int)bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &requests[slot]);
}

/* Tells the error that a wrong peer can cause from local errors. */
static int of_peer(int code) {
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class == MPI_ERR_TRUNCATE ? LONGER : code;
}

static int completed(int *slots, size_t *bytes, int *codes, int room) {
    int count = 0, received;
    if (room < slots_used)
        return -MPI_ERR_ARG;
    int code = MPI_Testsome(slots_used, requests, &count, slots, statuses);
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)
        return -code;
    if (count == MPI_UNDEFINED)
        return 0;
    for (int each = 0; each < count; each++) {
        codes[each] = code == MPI_ERR_IN_STATUS ? of_peer(statuses[each].MPI_ERROR) : MPI_SUCCESS;
        received = 0;
        if (codes[each] == MPI_SUCCESS)
            MPI_Get_count(&statuses[each], MPI_BYTE, &received);
        bytes[each] = received < 0 ? 0 : (size_t)received;
    }
    return count;
}

static int cancel(int slot) {
    int code = MPI_Cancel(&requests[slot]);
    return code == MPI_SUCCESS ? MPI_Wait(&requests[slot], MPI_STATUS_IGNORE) : code;
}

static int barrier(void) { return MPI_Barrier(MPI_COMM_WORLD); }

/* Lengths and offsets of concatenated parts; returns 0 or, if one is no int, TOO_LONG. */
static int places(const size_t *counts, int peers, int *lengths, int *begins) {
    size_t at = 0;
    for (int peer = 0; peer < peers; peer++) {
        if (counts[peer] > INT_MAX || at > INT_MAX)
            return TOO_LONG;
        lengths[peer] = (int)counts[peer];
        begins[peer] = (int)at;
        at += counts[peer];
    }
    return 0;
}

static int alltoallv(const void *from, const size_t *counts, void *into, const size_t *taken) {
    int peers = size();
    int *room = malloc(4 * (size_t)peers * sizeof *room);
    if (room == NULL)
        return NO_MEMORY;
    int code = places(counts, peers, room, room + peers);
    if (code == 0)
        code = places(taken, peers, room + 2 * peers, room + 3 * peers);
    if (code == 0)
        code = MPI_Alltoallv(from, room, room + peers, MPI_BYTE, into, room + 2 * peers,
                             room + 3 * peers, MPI_BYTE, MPI_COMM_WORLD);
    free(room);
    return code;
}

static void abort_all(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

static int finalize(void) { return MPI_Finalize(); }

static void copy_text(char *text, size_t room, const char *from) {
    strncpy(text, from, room - 1);
    text[room - 1] = 0;
}

static void library(char *text, size_t room) {
    char told[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(told, &length);
    copy_text(text, room, told);
}

static void words(int code, char *text, size_t room) {
    char told[MPI_MAX_ERROR_STRING] = "unknown error";
    int length;
    if (code == TOO_LONG)
        copy_text(told, sizeof told, "more bytes than one call carries");
    else if (code == NO_MEMORY)
        copy_text(told, sizeof told, "no memory for requests");
    else if (code == NO_THREADS)
        copy_text(told, sizeof told, "this library does not support threads");
    else
        MPI_Error_string(code, told, &length);
    copy_text(text, room, told);
}

/* The only symbol that Gristmill uses. */
const struct table *gristmill_mpi(void) {
    static const struct table all = {
        TABLE_VERSION, init,      rank,     size,    send,    receive, completed, cancel,
        barrier,       alltoallv, abort_all, finalize, library, words,
    };
    return &all;
}
