// Package payload says whether the payload of an asynq task is canonical: whether
// equal work always has equal bytes, and therefore one uniqueness lock.
//
// asynq derives the lock of a unique task from its queue, its type and the MD5 of
// its payload bytes (internal/base/base.go, UniqueKey). A blank, another member
// order or a clock reading in the payload is another lock, and the duplicate that
// the lock was meant to stop passes.
//
// [Canonical] gives the one spelling of a JSON payload, [Check] says where and
// why a payload departs from it, [Diff] why two payloads have two locks, [Corpus]
// which members vary from task to task although the work is the same, and
// [UniqueKey] the lock itself. [Decode] turns MessagePack, base64 and gzip
// payloads into JSON first; protobuf and gob payloads stay bytes.
//
// # Canonical form
//
// The canonical form follows RFC 8785 (JCS): no whitespace, members sorted by the
// UTF-16 code units of their names, the shortest spelling of every string, numbers
// as ECMAScript writes them, no Unicode normalisation. It departs where following
// would give two different works one lock, which means lost work:
//
//   - Integers beyond 2^53 keep their digits. JCS prints the nearest double, so
//     that 9007199254740993 and 9007199254740992 become one.
//   - A fraction that no double spells exactly (0.10000000000000001) and one that
//     underflows have no canonical form. JCS rounds them to a neighbour.
//   - Numbers beyond the range of a double have no canonical form, as in JCS.
//   - One leading UTF-8 byte order mark is dropped. JCS implementations reject it.
//   - Zero bytes are canonical, because asynq allows a task without a payload.
//
// Duplicate member names and lone surrogate escapes have no canonical form, as in
// the RFC; JavaScript implementations keep the last member and the escape.
//
// # Limits
//
// Input is hostile. Time and memory grow linearly with the payload (a sort of the
// members of unsorted objects apart), nesting is walked without recursion up to
// [MaxDepth] levels, exponents and digits of any length are read without big
// integers, and findings are counted but kept only up to [MaxFindings] for each
// rule. A canonical form is at most fourteen times as long as its payload (integers
// like 123456789012345678e291 are written out). The package does no I/O.
package payload
