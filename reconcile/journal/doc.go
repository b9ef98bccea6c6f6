// Package journal is the append-only record of what was changed, and of what
// was about to be: an intent is on disk before the change it speaks of begins,
// its result follows. It knows neither Redis nor ledgers; its callers fill the
// records and act on them.
//
// # File
//
// A journal is one JSON object a line (JSON Lines), schema idemctl.journal/v1.
// Every line ends in the member "crc", the CRC-32C (RFC 3720, appendix B.4) of
// all bytes of the line before it, and carries a number, seq, one higher than
// that of the line before. A line that was damaged or edited, and one that is
// gone, is therefore seen. That is protection against accidents: whoever may
// write the file can compute checksums too, so it proves nothing against
// tampering.
//
// Bytes from a queue need not be UTF-8. Text that is not is written in base64
// under its name with _b64 appended; task and owner IDs are written readably and
// once more, exactly, under their name with _hex appended.
//
// # What a writer promises
//
// When Intend returns nil, the intents have been handed to the disk (fsync). When
// it returns an error, nothing may be changed: what it had written is cut off
// again, or will be by the next Open. A failed fsync ends the journal for good,
// since the system may have dropped the pages and will not say so twice.
//
// A process killed while it writes leaves a torn last line. Readers report it as
// a TornError; Open copies its bytes to FILE.torn-TIME, syncs the copy and only
// then cuts it off, so that no byte is destroyed. A last line that only lacks
// its line end is a whole record and is kept.
//
// One process per host writes at a time, by an advisory lock on the journal file
// itself: it cannot be got around by removing a lock file. FILE.lock holds one
// line that names the holder and is never locked. On a network file system the
// lock reaches as far as that system's locks do.
//
// # Planned
//
// A run's first record says how many items it is to make, and its end how many of
// those it never began, and why. A run without an end, whose writer was killed,
// never began those of which there is no record. Journals of earlier versions say
// nothing of it.
//
// # Copy
//
// The same records can go to a Copy. The file comes first: intents are synced,
// then copied, then changed; where they cannot be copied, the file says that they
// were refused. Results are copied with the intents that follow them, or by End,
// Sync or Close. When only those cannot be copied nothing is lost and nothing
// fails: Behind says so, and the next Begin, Intend or Open adds what is missing
// before anything else happens.
//
// # Rotation
//
// There is none. To archive a journal, end the programs that write it, see that
// Pending yields nothing, and move the file away, with the FILE.torn-* beside
// it; the next Open begins a new one. A moved file stays readable by every
// reader here. A writer that finds its file moved, replaced or changed by
// another refuses to go on.
package journal
