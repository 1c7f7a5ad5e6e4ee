// Sorts records of 100 bytes by their first 10, from file to file, with STXXL's stream sorter.
//
//   stxxl INPUT OUTPUT MEMORY_BYTES TMPDIR
//
//   INPUT > Reader > stream::sort (runs and merge in TMPDIR) > Writer > OUTPUT
//
// Everything is direct I/O, several blocks in flight. Input and output are read and written here,
// by STXXL's own asynchronous files: a stxxl::vector on a file would change the input's length.

#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <stxxl/io>
#include <stxxl/mng>
#include <stxxl/stream>

namespace {

const size_t KEY_BYTES = 10;
const size_t RECORD_BYTES = 100;

// Bytes of a request: whole records and whole disk blocks, about the 4 MiB that reach a disk's rate.
const size_t BLOCK_BYTES = 4096 * RECORD_BYTES * 10;

// Requests in flight on each side.
const size_t DEPTH = 4;

// Bytes of a block of runs, where more blocks mean a wider merge.
const unsigned RUN_BLOCK_BYTES = 2 << 20;

const size_t DISK_BLOCK_BYTES = 4096;

// Memory of the program besides STXXL's sorter: the blocks of input and output.
const size_t OWN_BYTES = 2 * DEPTH * BLOCK_BYTES;

// Memory of the merge: on several threads a third of what runs were made in stays resident beside
// it (measured), and the sorter as a whole is to keep to the memory it was given.
const size_t MERGE_PERCENT = 60;

struct Record {
    char bytes[RECORD_BYTES];
};

struct Less {
    bool operator()(const Record& a, const Record& b) const {
        return std::memcmp(a.bytes, b.bytes, KEY_BYTES) < 0;
    }
    static Record filled(int byte) {
        Record record;
        std::memset(record.bytes, byte, RECORD_BYTES);
        return record;
    }
    Record min_value() const { return filled(0x00); }
    Record max_value() const { return filled(0xff); }
};

stxxl::file* open_file(const std::string& path, int mode) {
    // A queue of its own: input, output and runs do not wait for each other.
    static int queue = 100;
    return stxxl::create_file("linuxaio", path, mode | stxxl::file::DIRECT, ++queue);
}

// Blocks of a file that are asked for or written before they are needed.
class Blocks {
public:
    explicit Blocks(stxxl::file* file) : file_(file), requests_(DEPTH) {
        for (size_t i = 0; i < DEPTH; ++i)
            memory_.push_back(static_cast<char*>(stxxl::aligned_alloc<DISK_BLOCK_BYTES>(BLOCK_BYTES)));
    }
    ~Blocks() {
        for (size_t i = 0; i < DEPTH; ++i) {
            wait(i);
            stxxl::aligned_dealloc<DISK_BLOCK_BYTES>(memory_[i]);
        }
    }

protected:
    char* memory(stxxl::uint64 block) { return memory_[block % DEPTH]; }
    void wait(stxxl::uint64 block) {
        stxxl::request_ptr& request = requests_[block % DEPTH];
        if (request.valid()) request->wait();
        request = stxxl::request_ptr();
    }
    void read(stxxl::uint64 block) {
        requests_[block % DEPTH] = file_->aread(
            memory(block), block * BLOCK_BYTES, BLOCK_BYTES, stxxl::completion_handler());
    }
    void write(stxxl::uint64 block, size_t bytes) {
        requests_[block % DEPTH] = file_->awrite(
            memory(block), block * BLOCK_BYTES, bytes, stxxl::completion_handler());
    }

private:
    Blocks(const Blocks&);
    stxxl::file* file_;
    std::vector<char*> memory_;
    std::vector<stxxl::request_ptr> requests_;
};

// The records of a file, as a stream.
class Reader : Blocks {
public:
    typedef Record value_type;

    explicit Reader(stxxl::file* file)
        : Blocks(file), records_(file->size() / RECORD_BYTES), at_(0) {
        blocks_ = (file->size() + BLOCK_BYTES - 1) / BLOCK_BYTES;
        for (stxxl::uint64 block = 0; block < blocks_ && block < DEPTH; ++block) read(block);
        if (records_ > 0) enter(0);
    }
    bool empty() const { return at_ == records_; }
    const Record& operator*() const { return *record_; }
    const Record* operator->() const { return record_; }
    Reader& operator++() {
        ++at_;
        ++record_;
        if (at_ % PER_BLOCK == 0) {
            const stxxl::uint64 block = at_ / PER_BLOCK;
            if (block - 1 + DEPTH < blocks_) read(block - 1 + DEPTH);
            if (at_ < records_) enter(block);
        }
        return *this;
    }

private:
    static const stxxl::uint64 PER_BLOCK = BLOCK_BYTES / RECORD_BYTES;

    void enter(stxxl::uint64 block) {
        wait(block);
        record_ = reinterpret_cast<const Record*>(memory(block));
    }

    stxxl::uint64 records_, blocks_, at_;
    const Record* record_;
};

// Writes records front to back.
class Writer : Blocks {
public:
    explicit Writer(stxxl::file* file) : Blocks(file), file_(file), block_(0), filled_(0) {}
    void push(const Record& record) {
        if (filled_ == 0) wait(block_);
        std::memcpy(memory(block_) + filled_, record.bytes, RECORD_BYTES);
        filled_ += RECORD_BYTES;
        if (filled_ == BLOCK_BYTES) {
            write(block_++, BLOCK_BYTES);
            filled_ = 0;
        }
    }
    void finish() {
        const stxxl::uint64 length = block_ * BLOCK_BYTES + filled_;
        if (filled_ > 0) {
            const size_t bytes = (filled_ + DISK_BLOCK_BYTES - 1) / DISK_BLOCK_BYTES * DISK_BLOCK_BYTES;
            write(block_, bytes);
        }
        for (size_t i = 0; i < DEPTH; ++i) wait(i);
        file_->set_size(length);
    }

private:
    stxxl::file* file_;
    stxxl::uint64 block_;
    size_t filled_;
};

void sort(const char* input, const char* output, size_t memory_bytes, const std::string& temporary) {
    // The "disk" of STXXL is a file in TMPDIR that grows as it is needed. With this no .stxxl
    // file is looked for.
    stxxl::disk_config disk(temporary + "/stxxl.tmp", 0, "linuxaio autogrow delete");
    disk.direct = stxxl::disk_config::DIRECT_ON;
    stxxl::config::get_instance()->add_disk(disk);

    stxxl::file* from = open_file(input, stxxl::file::RDONLY);
    stxxl::file* to =
        open_file(output, stxxl::file::WRONLY | stxxl::file::CREAT | stxxl::file::TRUNC);
    to->set_size(from->size());
    {
        Reader reader(from);
        const size_t runs_bytes = memory_bytes - OWN_BYTES;
        stxxl::stream::sort<Reader, Less, RUN_BLOCK_BYTES> sorted(
            reader, Less(), runs_bytes, runs_bytes / 100 * MERGE_PERCENT);
        Writer writer(to);
        for (; !sorted.empty(); ++sorted) writer.push(*sorted);
        writer.finish();
    }
    delete to;
    delete from;
}

}  // namespace

int main(int count, char** words) {
    if (count != 5) {
        std::cerr << "usage: stxxl INPUT OUTPUT MEMORY_BYTES TMPDIR\n";
        return 2;
    }
    const size_t memory_bytes = std::strtoull(words[3], NULL, 10);
    // Blocks of runs, some of them for each of the merged runs.
    const size_t least = OWN_BYTES + 32 * RUN_BLOCK_BYTES;
    if (memory_bytes < least) {
        std::cerr << "stxxl: give at least " << least << " bytes of memory\n";
        return 2;
    }
    try {
        sort(words[1], words[2], memory_bytes, words[4]);
    } catch (const std::exception& error) {
        std::cerr << "stxxl: " << error.what() << "\n";
        return 1;
    }
    return 0;
}
