// Rows of residues and gaps as records: FASTA pairs, and EMBOSS srspair. The ctypes declarations are in
// pairalign/alignments/alignment_records.py.

#include <algorithm>
#include <new>
#include <vector>

#include "fields.h"

// How pairs are written; the order is that of ROW_FORMATS in pairalign/alignments/alignment_records.py.
enum pairalign_row_format : int32_t { PAIRALIGN_ROWS_FASTA, PAIRALIGN_ROWS_SRSPAIR };

namespace {

using namespace pairalign::records;
using pairalign::NameIndex;

constexpr Text BEGIN = "# Aligned_sequences:";

bool is_space(char one) { return one == ' ' || (one >= '\t' && one <= '\r'); }

// Takes the next word off a line; empty: there is none.
Text next_word(Text& line) {
    const char *at = line.data(), *const stop = at + line.size();
    while (at < stop && is_space(*at)) ++at;
    const char* const start = at;
    while (at < stop && !is_space(*at)) ++at;
    line = Text(at, static_cast<size_t>(stop - at));
    return Text(start, static_cast<size_t>(at - start));
}

// Characters of UTF-8, as which a margin is padded.
int64_t count_characters(const char* at, const char* stop) {
    return std::count_if(at, stop, [](char one) { return (one & 0xC0) != 0x80; });
}

int64_t count_residues(Text row) {
    int64_t count = 0;
    for (const char one : row) count += one != '-' && one != '.';
    return count;
}

// One of the two sequences of a pair, as its lines say it.
struct Side {
    Text name;
    std::vector<Text> parts;  // of the row
    int64_t start = -1, end = -1;
};

class RowReader {
public:
    RowReader(const NameIndex& queries, const NameIndex& targets, pairalign_record* records, char* residues)
        : queries_(queries), targets_(targets), records_(records), residues_(residues) {}

    int64_t count() const { return count_; }
    int64_t residue_bytes() const { return bytes_; }

    void read_fasta(Text text) {
        has_headers_ = true;
        Lines lines(text);
        int64_t number = 0, headers = 0;
        for (Text line; lines.next(line); ++number) {
            if (line.empty() || line[0] != '>') {
                if (headers > 0) sides_[(headers - 1) % 2].parts.push_back(line);
                continue;
            }
            if (headers > 0 && headers % 2 == 0) finish();
            if (headers % 2 == 0) begin(number);
            take_header(line.substr(1), headers++ % 2);
        }
        if (headers == 0) return;
        if (headers % 2 == 1) stop_at(PAIRALIGN_FAULT_TRUNCATED, record(), 1, 2);
        finish();
    }

    void read_srspair(Text text) {
        Lines lines(text);
        int64_t number = 0, rows = -1;
        for (Text line; lines.next(line); ++number) {
            if (line.empty()) continue;
            if (rows % 2 == 1 && (line[0] == ' ' || line[0] == '\t')) {
                take_bars(line);
            } else if (line[0] == '#') {
                if (line.substr(0, BEGIN.size()) == BEGIN) {
                    finish_blocks(rows);
                    begin(number);
                    rows = 0;
                } else if (rows >= 0) {
                    take_field(line);
                }
            } else if (rows >= 0 && line[0] != ' ' && line[0] != '\t') {
                rows += take_block(line, static_cast<int32_t>(rows % 2));
            }
        }
        finish_blocks(rows);
    }

private:
    pairalign_record& record() { return records_[count_]; }

    void begin(int64_t line) {
        clear(record());
        if (has_headers_) record().trimmed = PAIRALIGN_TRIMMED_SPANS;
        record().line = line;
        for (Side& side : sides_) {
            side.name = Text();
            side.parts.clear();
            side.start = side.end = -1;
        }
        bars_.clear();
        pair_ = Text();
    }

    // A name, and start=, end= and score= among the words behind it.
    void take_header(Text header, int64_t number) {
        Side& side = sides_[number];
        side.name = next_word(header);
        for (Text word = next_word(header); !word.empty(); word = next_word(header)) {
            const size_t equals = word.find('=');
            if (equals == word.npos) continue;
            const Text key = word.substr(0, equals), value = word.substr(equals + 1);
            if (key == "start" || key == "end") {
                int64_t& place = key == "start" ? side.start : side.end;
                if (!read_whole(value, place) || place < 0) stop_at(PAIRALIGN_FAULT_NUMBER, record());
            } else if (key == "score") {
                claim(PAIRALIGN_SAYS_SCORE, value, record(), true);
            } else if (key == "pair") {
                if (number == 1 && !pair_.empty() && value != pair_) notice(PAIRALIGN_FAULT_TARGET, record());
                pair_ = value;
            }
        }
    }

    // ``# Identity:       9/11 (81.8%)``
    void take_field(Text line) {
        line.remove_prefix(1);
        const Text key = next_word(line);
        const Text value = next_word(line);
        if (key == "1:" || key == "2:") {
            sides_[key == "2:"].name = value;
        } else if (key == "Length:") {
            claim(PAIRALIGN_SAYS_COLUMNS, value, record(), true);
        } else if (key == "Identity:") {
            take_share(value, line, PAIRALIGN_SAYS_MATCHES, PAIRALIGN_SAYS_PER_CENT_IDENTITY);
        } else if (key == "Similarity:") {
            take_share(value, line, PAIRALIGN_SAYS_POSITIVES, PAIRALIGN_SAYS_PER_CENT_POSITIVES);
        } else if (key == "Gaps:") {
            take_share(value, line, PAIRALIGN_SAYS_GAP_RESIDUES, PAIRALIGN_SAYS_PER_CENT_GAPS);
        } else if (key == "Score:") {
            claim(PAIRALIGN_SAYS_SCORE, value, record(), true);
        }
    }

    // ``9/11 (81.8%)``, of which `rest` follows the first word: a count, the columns, per cent.
    void take_share(Text value, Text rest, int32_t count, int32_t per_cent) {
        const size_t slash = value.find('/');
        claim(count, value.substr(0, slash), record(), true);
        if (slash != value.npos) claim(PAIRALIGN_SAYS_COLUMNS, value.substr(slash + 1), record(), true);
        if (Text left = rest; next_word(left).empty()) return;
        const size_t open = rest.find('('), close = rest.find("%)");
        if (open == rest.npos || close == rest.npos || close < open)
            return stop_at(PAIRALIGN_FAULT_NUMBER, record());
        Text share = rest.substr(open + 1, close - open - 1);
        claim(per_cent, next_word(share), record(), true);
    }

    // ``name  12 MKV-LW  16``; false: the line is none such. The numbers are those of the first and the last
    // residue; a row of gaps alone repeats that of the last one.
    bool take_block(Text line, int32_t number) {
        Side& side = sides_[number];
        const char* const begin = line.data();
        const Text shown = next_word(line);  // of a long name its beginning
        int64_t first = 0, last = 0;
        if (!read_whole(next_word(line), first)) return false;
        const Text row = next_word(line);
        if (!read_whole(next_word(line), last) || !next_word(line).empty()) return false;
        side.parts.push_back(row);
        if (side.name.substr(0, shown.size()) != shown) notice(PAIRALIGN_FAULT_QUERY + number, record());
        const int64_t residues = count_residues(row);
        if (side.start < 0 && residues > 0) {
            side.start = first - 1;
            side.end = side.start;
        }
        const int64_t before = std::max<int64_t>(side.end, 0), now = before + residues;
        const bool sound = residues > 0 ? first == before + 1 : first == before || first == before + 1;
        if (!sound || last != now)
            notice(PAIRALIGN_FAULT_COORDINATES, record(), static_cast<double>(last),
                   static_cast<double>(now));
        if (side.start >= 0) side.end = now;
        if (number == 0) {
            indent_ = static_cast<size_t>(count_characters(begin, row.data()));
            width_ = row.size();
            bars_.resize(bars_.size() + width_, ' ');
        }
        return true;
    }

    // What stands below the row of the query, as far as that goes.
    void take_bars(Text line) {
        const Text bars = line.substr(std::min(indent_, line.size())).substr(0, width_);
        std::copy(bars.begin(), bars.end(), bars_.end() - static_cast<std::ptrdiff_t>(width_));
        if (line.find_last_not_of(" \t") + 1 > indent_ + width_)
            notice(PAIRALIGN_FAULT_BARS, record(), static_cast<double>(bars_.size() + 1));
    }

    void finish_blocks(int64_t rows) {
        if (rows < 0) return;
        if (rows == 0 || rows % 2 != 0) {
            record().noticed = 0;  // rows that are taken for others
            record().first = 0;
            stop_at(PAIRALIGN_FAULT_TRUNCATED, record(), static_cast<double>(rows),
                    static_cast<double>(rows == 0 ? 2 : rows + 1));
        }
        for (Side& side : sides_)
            if (side.start < 0) side.start = side.end = 0;
        finish();
    }

    int64_t put(Text word) {
        if (!word.empty()) std::memcpy(residues_ + bytes_, word.data(), word.size());
        bytes_ += static_cast<int64_t>(word.size());
        return bytes_ - static_cast<int64_t>(word.size());
    }

    void finish() {
        pairalign_record& made = record();
        for (int side = 0; side < 2; ++side) {
            const Side& from = sides_[side];
            (side ? made.target_name : made.query_name) = put(from.name);
            (side ? made.target_name_bytes : made.query_name_bytes) = static_cast<int32_t>(from.name.size());
            made.spans[2 * side] = from.start;
            made.spans[2 * side + 1] = from.end;
            made.rows[side] = bytes_;
            for (const Text part : from.parts) put(part);
            made.row_bytes[side] = bytes_ - made.rows[side];
        }
        if (!bars_.empty()) {
            made.bars = put(Text(bars_.data(), bars_.size()));
            made.bar_bytes = static_cast<int64_t>(bars_.size());
        }
        made.query = find(queries_, sides_[0].name);
        made.target = find(targets_, sides_[1].name);
        blame_names(made);
        made.number = count_++;
    }

    const NameIndex& queries_;
    const NameIndex& targets_;
    pairalign_record* const records_;
    char* const residues_;
    Side sides_[2];
    std::vector<char> bars_;         // as long as the row of the query
    Text pair_;                      // FASTA: what the query's header says that its pair is
    bool has_headers_ = false;       // FASTA
    size_t indent_ = 0, width_ = 0;  // of the last row of the query
    int64_t count_ = 0, bytes_ = 0;
};

}  // namespace

// Reads pairs of rows: a record a pair, which `records` has room for. Names and whole rows are put one after
// the other into residues[bytes]; places in records are there. Returns how many records, -1 where there is no
// memory. residue_bytes: how much of `residues` is used.
PAIRALIGN_API int64_t pairalign_read_rows(const char* text, int64_t bytes, int32_t format,
                                          const void* queries, const void* targets, pairalign_record* records,
                                          char* residues, int64_t* residue_bytes) {
    try {
        RowReader reader(*static_cast<const NameIndex*>(queries), *static_cast<const NameIndex*>(targets),
                         records, residues);
        const Text whole(text, static_cast<size_t>(bytes));
        format == PAIRALIGN_ROWS_FASTA ? reader.read_fasta(whole) : reader.read_srspair(whole);
        *residue_bytes = reader.residue_bytes();
        return reader.count();
    } catch (const std::bad_alloc&) {
        return -1;
    }
}
