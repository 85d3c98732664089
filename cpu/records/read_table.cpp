// Lines of columns as records: PAF, SAM, TSV, BLAST's tables. The ctypes declarations are in
// pairalign/alignments/alignment_records.py.

#include <cstring>
#include <string>
#include <utility>

#include "fields.h"
#include "layout.h"

namespace {

using namespace pairalign::records;
using pairalign::NameIndex;

uint32_t operation_of(char letter) {
    constexpr Text letters = "MIDNSHP=X";
    const size_t at = letters.find(letter);
    return at == letters.npos ? 15 : static_cast<uint32_t>(at);
}

constexpr uint32_t INSERTION = 1, DELETION = 2, SOFT = 4, HARD = 5;

class Reader {
public:
    Reader(const char* text, const pairalign_layout& layout, const NameIndex& queries,
           const NameIndex& targets, uint32_t* runs)
        : text_(text), layout_(layout), queries_(queries), targets_(targets), runs_(runs) {}

    int64_t run_count() const { return run_count_; }

    // False: the line is no alignment (SAM: not mapped).
    bool read(Text line, pairalign_record& record) {
        clear(record);
        is_sam_ = is_mapped_ = false;
        part_first_ = 1;
        strand_ = target_strand_ = flag_ = counts_down_ = 0;
        next_name_ = Text("*");
        quality_bytes_ = -1;
        for (int64_t& one : from_one_) one = -1;
        tag_count_ = 0;
        int32_t column = 0;
        size_t at = 0;
        for (; at <= line.size(); ++column) {
            if (column >= layout_.columns && !layout_.tags) break;
            const char* const start = line.data() + at;
            const void* const tab = std::memchr(start, '\t', line.size() - at);
            const size_t bytes =
                tab ? static_cast<size_t>(static_cast<const char*>(tab) - start) : line.size() - at;
            const Text word(start, bytes);
            at += bytes + 1;
            if (column < layout_.columns) {
                take(layout_.roles[column], word, record);
            } else {
                take_tag(word, record);
            }
        }
        // A tab at the end is no column.
        if (column < layout_.columns || at < line.size()) {
            record.fault = record.first = 0;  // what is missing explains what was found
            record.noticed = 0;
            stop_at(PAIRALIGN_FAULT_TRUNCATED, record, column + (at < line.size()), layout_.columns);
        }
        return finish(record);
    }

private:
    int64_t place(Text word) const { return word.data() - text_; }

    void take(int32_t role, Text word, pairalign_record& record) {
        switch (role) {
            case PAIRALIGN_ROLE_IGNORED:
                return;
            case PAIRALIGN_ROLE_QUERY:
                return take_name(word, 0, record);
            case PAIRALIGN_ROLE_TARGET:
                return take_name(word, 1, record);
            case PAIRALIGN_ROLE_STRAND:
                strand_ = word == "-" ? -1 : 1;
                if (word != "-" && word != "+") stop_at(PAIRALIGN_FAULT_STRAND, record);
                return;
            case PAIRALIGN_ROLE_QUERY_START:
                return take_place(word, record.spans[0], record);
            case PAIRALIGN_ROLE_QUERY_FIRST:
                return take_place(word, from_one_[0], record);
            case PAIRALIGN_ROLE_QUERY_END:
                return take_place(word, record.spans[1], record);
            case PAIRALIGN_ROLE_QUERY_LAST:
                return take_place(word, from_one_[1], record);
            case PAIRALIGN_ROLE_TARGET_START:
                return take_place(word, record.spans[2], record);
            case PAIRALIGN_ROLE_TARGET_FIRST:
                return take_place(word, from_one_[2], record);
            case PAIRALIGN_ROLE_TARGET_END:
                return take_place(word, record.spans[3], record);
            case PAIRALIGN_ROLE_TARGET_LAST:
                return take_place(word, from_one_[3], record);
            case PAIRALIGN_ROLE_CIGAR:
            case PAIRALIGN_ROLE_EXCHANGED_CIGAR:
            case PAIRALIGN_ROLE_SAM_CIGAR:
                is_sam_ |= role == PAIRALIGN_ROLE_SAM_CIGAR;
                is_mapped_ = word != "*";
                read_cigar(word, role == PAIRALIGN_ROLE_EXCHANGED_CIGAR, record);
                return;
            case PAIRALIGN_ROLE_QUERY_ROW:
            case PAIRALIGN_ROLE_TARGET_ROW:
                return take_row(word, role - PAIRALIGN_ROLE_QUERY_ROW, record);
            case PAIRALIGN_ROLE_BTOP:
                record.btop = place(word);
                record.btop_bytes = static_cast<int64_t>(word.size());
                return;
            case PAIRALIGN_ROLE_FLAG:
                take_whole(word, flag_, record);
                if (flag_ < 0 || flag_ >= 1 << 12) stop_at(PAIRALIGN_FAULT_NUMBER, record);
                return;
            case PAIRALIGN_ROLE_SAM_SEQUENCE:
                if (word == "*") return;
                record.residues = place(word);
                record.residue_bytes = static_cast<int64_t>(word.size());
                return;
            default:
                take_aside(role, word, record);
        }
    }

    // What is not of the alignment itself.
    void take_aside(int32_t role, Text word, pairalign_record& record) {
        int64_t value = 0;
        switch (role) {
            case PAIRALIGN_ROLE_SAM_QUALITY:
                if (word == "*") return;
                quality_bytes_ = static_cast<int64_t>(word.size());
                for (const char one : word)
                    if (one < '!' || one > '~') return notice(PAIRALIGN_FAULT_QUALITY, record, -1);
                return;
            case PAIRALIGN_ROLE_NEXT_NAME:
                next_name_ = word;
                return;
            case PAIRALIGN_ROLE_NEXT_PLACE:
                // Without a next read it begins nowhere.
                if (!read_whole(word, value) || value < 0 || (value > 0 && next_name_ == "*"))
                    notice(PAIRALIGN_FAULT_MATE, record);
                if (next_name_ != "*" && next_name_ != "=" && find(targets_, next_name_) < 0)
                    notice(PAIRALIGN_FAULT_MATE, record);
                return;
            case PAIRALIGN_ROLE_TEMPLATE:
                if (!read_whole(word, value) || (value != 0 && next_name_ == "*"))
                    notice(PAIRALIGN_FAULT_MATE, record);
                return;
            case PAIRALIGN_ROLE_MAPPING_QUALITY:
                if (!read_whole(word, value) || value < 0 || value > 255)
                    notice(PAIRALIGN_FAULT_MAPPING_QUALITY, record, static_cast<double>(value));
                return;
            case PAIRALIGN_ROLE_TARGET_STRAND:
                if (word == "plus" || word == "minus") {
                    target_strand_ = word == "plus" ? 1 : -1;
                } else if (!is_unsaid(word) && word != "N/A") {
                    stop_at(PAIRALIGN_FAULT_STRAND, record);
                }
                return;
            case PAIRALIGN_ROLE_REAL:
            case PAIRALIGN_ROLE_EVALUE:
                if (role == PAIRALIGN_ROLE_EVALUE && word == "-1") record.trimmed = PAIRALIGN_TRIMMED_COUNTS;
                if ((layout_.required == 2 || !is_unsaid(word)) && word != "-1" &&
                    !is_real(word, role == PAIRALIGN_ROLE_EVALUE ? 0 : -HUGE_VAL))
                    stop_at(PAIRALIGN_FAULT_NUMBER, record);
                return;
            case PAIRALIGN_ROLE_CONFIDENCE:
                return take_marks(word, record);
            default:
                claim(role - PAIRALIGN_ROLE_CLAIM, word, record, layout_.required);
        }
    }

    // How sure each column is, a mark a column; what it is of is not computed again.
    void take_marks(Text marks, pairalign_record& record) {
        if (marks.find_first_not_of("0123456789*.") != Text::npos) return notice(PAIRALIGN_FAULT_TAG, record);
        claim(PAIRALIGN_SAYS_COLUMNS, std::to_string(marks.size()), record);
    }

    static void take_whole(Text word, int64_t& value, pairalign_record& record) {
        if (!read_whole(word, value)) stop_at(PAIRALIGN_FAULT_NUMBER, record);
    }

    static void take_place(Text word, int64_t& value, pairalign_record& record) {
        take_whole(word, value, record);
        if (value < 0) stop_at(PAIRALIGN_FAULT_NUMBER, record);
    }

    // Names and rows may stand in two columns, and must be the same there.
    void take_name(Text word, int32_t side, pairalign_record& record) {
        int64_t& name = side ? record.target_name : record.query_name;
        int32_t& bytes = side ? record.target_name_bytes : record.query_name_bytes;
        if (word.empty() || (bytes > 0 && Text(text_ + name, static_cast<size_t>(bytes)) != word))
            stop_at(PAIRALIGN_FAULT_QUERY + side, record);
        name = place(word);
        bytes = static_cast<int32_t>(word.size());
        const NameIndex& index = side ? targets_ : queries_;
        const int32_t place = layout_.quotes ? find(index, unquoted(word)) : -1;
        (side ? record.target : record.query) = place >= 0 ? place : find(index, word);
    }

    // What stands between the quotes of a word, its own quotes once each; other words as they are.
    Text unquoted(Text word) {
        if (word.size() < 2 || word.front() != '"' || word.back() != '"') return word;
        bare_.clear();
        for (size_t k = 1; k + 1 < word.size(); ++k) {
            if (word[k] == '"' && (k + 2 >= word.size() || word[++k] != '"')) return word;
            bare_ += word[k];
        }
        return bare_;
    }

    void take_row(Text word, int32_t side, pairalign_record& record) {
        int64_t &row = record.rows[side], &bytes = record.row_bytes[side];
        if (bytes >= 0 && Text(text_ + row, static_cast<size_t>(bytes)) != word)
            stop_at(PAIRALIGN_FAULT_ALIGNMENT, record);
        row = place(word);
        bytes = static_cast<int64_t>(word.size());
    }

    // The number that a tag states; PAIRALIGN_CLAIMS: none that is known.
    int32_t claim_of(Text name) const {
        const bool is_diamond = layout_.program == PAIRALIGN_DIAMOND;
        const bool is_vsearch = layout_.program == PAIRALIGN_VSEARCH;
        if (name == "NM") return is_vsearch ? PAIRALIGN_SAYS_EDITS_INTERNAL : PAIRALIGN_SAYS_EDITS;
        if (name == "AS" && !is_diamond && !is_vsearch) return PAIRALIGN_SAYS_SCORE;
        if (name == "ZR" && is_diamond) return PAIRALIGN_SAYS_SCORE;
        if (name == "ZL" && is_diamond) return PAIRALIGN_SAYS_TARGET_LENGTH;
        if (name == "ZI" && is_diamond) return PAIRALIGN_SAYS_PER_CENT_IDENTITY;
        return PAIRALIGN_CLAIMS;
    }

    // No tag comes twice; of more than there is room for, those behind are not compared.
    bool is_new_tag(Text name) {
        for (int32_t k = 0; k < tag_count_; ++k)
            if (tags_[k][0] == name[0] && tags_[k][1] == name[1]) return false;
        if (tag_count_ < MOST_TAGS) std::memcpy(tags_[tag_count_++], name.data(), 2);
        return true;
    }

    // The kind of value that a tag has, as published; `other` where any will do.
    char kind_of(Text name, char other) const {
        if (name == "cs" || name == "pp" || name == (is_sam_ ? "MD" : "cg")) return 'Z';
        return name == "tp" ? 'A' : other;
    }

    void take_tag(Text word, pairalign_record& record) {
        if (word.size() < 5 || word[2] != ':' || word[4] != ':') return notice(PAIRALIGN_FAULT_TAG, record);
        const char kind = word[3];
        const Text value = word.substr(5);
        const Text name = word.substr(0, 2);
        if (!is_new_tag(name) || kind != kind_of(name, kind)) notice(PAIRALIGN_FAULT_TAG, record);
        if (const int32_t number = claim_of(name); number != PAIRALIGN_CLAIMS) {
            int64_t digits;
            int8_t decimals;
            const bool is_number = (kind == 'i' || kind == 'f') && read_number(value, digits, decimals);
            if (!is_number || (kind == 'i' && decimals > 0)) return stop_at(PAIRALIGN_FAULT_NUMBER, record);
            claim(number, value, record);
        } else if (name == "ZS" && layout_.program == PAIRALIGN_DIAMOND) {
            take_whole(value, part_first_, record);
        } else if (name == "cg" && !is_sam_) {
            if (record.runs >= 0) return notice(PAIRALIGN_FAULT_TAG, record);
            read_cigar(value, false, record);
        } else if (name == "cs") {
            record.cs = place(value);
            record.cs_bytes = static_cast<int64_t>(value.size());
        } else if (name == "MD" && is_sam_) {
            record.md = place(value);
            record.md_bytes = static_cast<int64_t>(value.size());
        } else if (name == "pp" && kind == 'Z') {
            take_marks(value, record);
        } else if (name == "tp" && value != "P" && value != "S" && value != "I" && value != "i") {
            notice(PAIRALIGN_FAULT_TAG, record);
        } else if (kind == 'i' || kind == 'f') {
            if (!is_real(value, -HUGE_VAL)) notice(PAIRALIGN_FAULT_TAG, record);
        }
    }

    void read_cigar(Text word, bool exchanged, pairalign_record& record) {
        record.first_run = run_count_;
        record.runs = 0;
        if (word == "*") return;
        uint32_t length = 0;
        bool digits = false, inside = false, behind = false;
        for (const char character : word) {
            if (character >= '0' && character <= '9') {
                length = 10 * length + static_cast<uint32_t>(character - '0');
                digits = true;
                if (length >= 1u << 28) break;
                continue;
            }
            uint32_t operation = operation_of(character);
            if (!digits || length == 0 || operation == 15) {
                digits = true;
                break;
            }
            if (operation == SOFT || operation == HARD) {
                if (!is_sam_) break;
                behind |= inside;
                record.clipped[inside] += operation == SOFT ? length : 0;
                hard_[inside] += operation == HARD ? length : 0;
            } else {
                if (behind) break;
                inside = true;
                if (exchanged && operation == INSERTION) {
                    operation = DELETION;
                } else if (exchanged && operation == DELETION) {
                    operation = INSERTION;
                }
                runs_[run_count_++] = length << 4 | operation;
                record.runs++;
            }
            length = 0;
            digits = false;
        }
        // Digits are left where no operation follows them, or where something was wrong.
        if (digits || length != 0) stop_at(PAIRALIGN_FAULT_CIGAR, record);
    }

    bool finish(pairalign_record& record) {
        if (is_sam_) {
            if (flag_ & 4 && record.fault == 0) {
                run_count_ -= record.runs > 0 ? record.runs : 0;
                hard_[0] = hard_[1] = 0;
                return false;
            }
            if (!is_mapped_) stop_at(PAIRALIGN_FAULT_CIGAR, record);
            place_sam(record);
            if (record.residue_bytes < 0 && quality_bytes_ >= 0) notice(PAIRALIGN_FAULT_QUALITY, record);
            if (record.residue_bytes >= 0 && quality_bytes_ >= 0 && record.residue_bytes != quality_bytes_)
                notice(PAIRALIGN_FAULT_QUALITY, record, static_cast<double>(quality_bytes_),
                       static_cast<double>(record.residue_bytes));
        }
        for (int side = 0; side < 2 && !is_sam_; ++side) place_from_one(side, record);
        if (!is_sam_) turn(record);
        blame_names(record);
        return true;
    }

    // Which sequence is turned: that whose coordinates count down, else that which the columns of the layout
    // do not run along. All that says the strand must say the same.
    void turn(pairalign_record& record) {
        int32_t& turned = record.turned;
        turned = counts_down_;
        if (turned == 0 && target_strand_ < 0 && !is_long(2)) turned = 2;
        if (turned == 0 && strand_ < 0) turned = layout_.along_query && target_strand_ == 0 ? 2 : 1;
        const bool is_other_target = target_strand_ != 0 && (turned == 2) != (target_strand_ < 0);
        if (is_other_target || (strand_ > 0 && turned != 0)) stop_at(PAIRALIGN_FAULT_STRAND, record);
    }

    // Whether the coordinates of a sequence are said from 1, and could count down.
    bool is_long(int first) const {
        return from_one_[first] >= 0 && from_one_[first + 1] >= 0 && from_one_[first] < from_one_[first + 1];
    }

    // Where the query's residues lie is said by what is clipped, in the order of the strand.
    void place_sam(pairalign_record& record) {
        int64_t used[2] = {0, 0};
        for (int64_t k = 0; k < record.runs; ++k) {
            const uint32_t run = runs_[record.first_run + k];
            const uint32_t operation = run & 15;
            if (operation != 2 && operation != 3 && operation != 6) used[0] += run >> 4;
            if (operation != 1 && operation != 6) used[1] += run >> 4;
        }
        const bool minus = flag_ & 16;
        const int64_t around[2] = {record.clipped[0] + hard_[0], record.clipped[1] + hard_[1]};
        record.turned = minus;
        record.spans[0] = around[minus];
        if (layout_.program == PAIRALIGN_DIAMOND) {
            record.spans[0] = part_first_ - 1;
        } else {
            record.says[PAIRALIGN_SAYS_QUERY_LENGTH] = around[0] + used[0] + around[1];
        }
        record.spans[1] = record.spans[0] + used[0];
        record.spans[2] = from_one_[2] - 1;
        record.spans[3] = record.spans[2] + used[1];
        hard_[0] = hard_[1] = 0;
    }

    // Coordinates from 1, both residues included; of a strand that is turned the first is the larger. Those
    // from 0, where they are said as well, must be the same.
    void place_from_one(int side, pairalign_record& record) {
        int64_t &first = from_one_[2 * side], &last = from_one_[2 * side + 1];
        int64_t* const span = record.spans + 2 * side;
        const bool is_empty = first == 1 && last == 0;
        if (first >= 0 && last >= 0 && first > last && !is_empty) {
            std::swap(first, last);
            counts_down_ ^= side + 1;
        }
        const int64_t found[2] = {first < 0 ? -1 : first - 1, last};
        for (int end = 0; end < 2; ++end) {
            if (from_one_[2 * side + end] < 0) continue;
            if (found[end] < 0)
                stop_at(PAIRALIGN_FAULT_QUERY_SPAN + side, record, -1, static_cast<double>(last));
            if (span[end] >= 0 && span[end] != found[end])
                stop_at(PAIRALIGN_FAULT_QUERY_SPAN + side, record, static_cast<double>(span[0]),
                        static_cast<double>(span[1]));
            span[end] = found[end];
        }
    }

    const char* const text_;
    const pairalign_layout& layout_;
    const NameIndex& queries_;
    const NameIndex& targets_;
    uint32_t* const runs_;
    int64_t run_count_ = 0;
    int64_t hard_[2] = {0, 0};
    int64_t from_one_[4] = {-1, -1, -1, -1};  // spans as they are said from 1
    static constexpr int32_t MOST_TAGS = 32;
    char tags_[MOST_TAGS][2];  // that the record has
    int32_t tag_count_ = 0;
    int64_t flag_ = 0, quality_bytes_ = -1, part_first_ = 1;
    int32_t strand_ = 0, target_strand_ = 0;
    int32_t counts_down_ = 0;  // the sequence whose coordinates from 1 do: 1 the query, 2 the target, 3 both
    Text next_name_;
    std::string bare_;  // the last name that was between quotes
    bool is_sam_ = false, is_mapped_ = false;
};

}  // namespace

// Reads the lines of a text: records[lines], runs[bytes / 2 + 1]. Returns how many records.
// counts[2]: runs, and lines that are no alignments.
PAIRALIGN_API int64_t pairalign_read_records(const char* text, int64_t bytes, const pairalign_layout* layout,
                                             const void* queries, const void* targets,
                                             pairalign_record* records, uint32_t* runs, int64_t* counts) {
    Reader reader(text, *layout, *static_cast<const NameIndex*>(queries),
                  *static_cast<const NameIndex*>(targets), runs);
    int64_t count = 0, line_number = 0, others = 0;
    Lines lines(Text(text, static_cast<size_t>(bytes)));
    for (Text line; lines.next(line); ++line_number) {
        if (line.empty() || static_cast<unsigned char>(line[0]) == layout->comment) continue;
        if (reader.read(line, records[count])) {
            records[count].line = line_number;
            records[count].number = count;
            count++;
        } else {
            others++;
        }
    }
    counts[0] = reader.run_count();
    counts[1] = others;
    return count;
}
