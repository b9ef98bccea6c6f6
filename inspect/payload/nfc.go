package payload

import (
	"sync/atomic"

	"golang.org/x/text/unicode/norm"
)

// isNFC says whether text is in Unicode normalisation form C. The library follows
// the stream-safe text process of UAX 15 as well: it also calls text abnormal that
// stacks more than 30 combining marks on one letter, which is no ordinary text.
func isNFC(text []byte) bool { return norm.NFC.IsNormal(text) }

// nfc is the text in normalisation form C.
func nfc(text []byte) []byte { return norm.NFC.Bytes(text) }

// inertPages remembers, a page of 256 characters at a time, which characters
// normalisation form C always leaves alone: the library's own lookup would be the
// slowest part of checking text that is not Latin.
var inertPages [0x200]atomic.Pointer[[4]uint64]

// isInert says that the character is a starter that form C keeps and that combines
// with nothing before it (NFC_Quick_Check=Yes, UAX 15 section 9). Text of such
// characters is in form C. Beyond the supplementary multilingual plane it is false.
func isInert(r rune) bool {
	if r >= 0x20000 {
		return false
	}
	page := inertPages[r>>8].Load()
	if page == nil {
		page = readInert(r &^ 0xFF)
		inertPages[r>>8].Store(page)
	}
	return page[r>>6&3]&(1<<(r&63)) != 0
}

func readInert(first rune) *[4]uint64 {
	var page [4]uint64
	for r := first; r <= first|0xFF; r++ {
		text := string(r)
		p := norm.NFC.PropertiesString(text)
		if p.CCC() == 0 && p.LeadCCC() == 0 && p.BoundaryBefore() && norm.NFC.IsNormalString(text) {
			page[r>>6&3] |= 1 << (r & 63)
		}
	}
	return &page
}
