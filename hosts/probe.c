/* What test.sh runs over the hosts: every rank says who it is and where, then, by the first argument,
 *   send MB    rank 0 sends MB megabytes to rank 1, in one message a megabyte, and says MB/s
 *   wait       all ranks sleep until they are ended
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEGABYTE = 1000 * 1000 };
static char block[MEGABYTE];

static void send(int rank, int megabytes)
{
    double start = MPI_Wtime();
    for (int sent = 0; sent < megabytes; sent++) {
        if (rank == 0)
            MPI_Send(block, MEGABYTE, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Recv(block, MEGABYTE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 1)
        printf("%.0f MB/s\n", megabytes / (MPI_Wtime() - start));
}

int main(int arguments, char **argument)
{
    int rank, size;
    char host[256];
    MPI_Init(&arguments, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    gethostname(host, sizeof host);
    printf("rank %d of %d on %s\n", rank, size, host);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (arguments == 3 && strcmp(argument[1], "send") == 0)
        send(rank, atoi(argument[2]));
    if (arguments == 2 && strcmp(argument[1], "wait") == 0)
        for (;;)
            sleep(1);
    MPI_Finalize();
    return 0;
}
