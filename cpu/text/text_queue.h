// Formatting of text behind the back of whoever has the alignments: slabs go in, pieces of text come out
// in order.
//
// Contract
//   `pairalign_text_submit` takes a slab of pairs (see text.h) and returns at once. Threads of the queue cut
//   it into pieces, each a run of pairs whose text surely fits into a buffer, and format several at a time,
//   of the slab and of those submitted after it. Pieces leave in the order of the pairs: through
//   `pairalign_text_take`, or, after `pairalign_text_write_to`, into a file. What is written depends on the
//   pairs alone, never on threads.
//   Memory: 2 * threads + 2 buffers of `piece_bytes`, or the text of one pair where that is larger.
//   All functions may be called from any thread; all wait for `wait_ms` milliseconds at most, so that a
//   caller can look whether it was interrupted. The threads take no signals.
//   Declared with ctypes in pairalign/base/native.py and formats/text_queue.py.
#pragma once

#include "text.h"

struct pairalign_text_queue;

// A piece of text; goes back with `pairalign_text_give_back`.
struct pairalign_text_piece {
    const char* data;
    int64_t bytes;
};

// What came of a call. Troubles last: no other call does better.
enum pairalign_text_status : int32_t {
    PAIRALIGN_TEXT_DONE = 0,
    PAIRALIGN_TEXT_WAITING = 1,   // not yet
    PAIRALIGN_TEXT_IDLE = 2,      // `take`: there is nothing more to come of what was submitted
    PAIRALIGN_TEXT_BAD_PAIR = 3,  // its columns contradict each other: `pairalign_text_trouble` says which
    PAIRALIGN_TEXT_NO_MEMORY = 4,
    PAIRALIGN_TEXT_UNWRITTEN = 5,  // the file: `pairalign_text_trouble` is its errno
    PAIRALIGN_TEXT_STOPPED = 6,
};

// Start a queue of so many formatting threads; the first pair shown has `number`. Null: the system gives no
// memory or no threads.
PAIRALIGN_API pairalign_text_queue* pairalign_text_open(int32_t threads, int64_t piece_bytes, int64_t number);

// Let a thread write all pieces into an open file. Once at most, before anything is submitted; nobody may
// `take` then. `checksum`: null, or a CRC-32 that goes on with all that is written; it may be looked at when
// the file has got everything. False: the system gives no thread.
PAIRALIGN_API int32_t pairalign_text_write_to(pairalign_text_queue* queue, int32_t file, uint32_t* checksum);

// Add a slab. What `text` points into must stay until as many slabs have been formatted, see `wait`.
PAIRALIGN_API int32_t pairalign_text_submit(pairalign_text_queue* queue, const pairalign_text* text);

// Wait for the next piece.
PAIRALIGN_API int32_t pairalign_text_take(pairalign_text_queue* queue, int32_t wait_ms,
                                          pairalign_text_piece* piece);
PAIRALIGN_API void pairalign_text_give_back(pairalign_text_queue* queue, const pairalign_text_piece* piece);

// Number of slabs, of those submitted, whose text has been made: their columns are no longer needed.
PAIRALIGN_API int64_t pairalign_text_formatted(pairalign_text_queue* queue);

// Wait until so many slabs have been formatted.
PAIRALIGN_API int32_t pairalign_text_wait(pairalign_text_queue* queue, int64_t slabs, int32_t wait_ms);

// Wait until the file has got everything.
PAIRALIGN_API int32_t pairalign_text_wait_written(pairalign_text_queue* queue, int32_t wait_ms);

PAIRALIGN_API int64_t pairalign_text_trouble(pairalign_text_queue* queue);

// Let threads finish no more than the piece in hand, and all that wait return.
PAIRALIGN_API void pairalign_text_stop(pairalign_text_queue* queue);

// End the threads and free everything. Nobody else may be using the queue.
PAIRALIGN_API void pairalign_text_close(pairalign_text_queue* queue);
