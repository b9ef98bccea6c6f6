package payload

// identifierFacts recognises UUIDs of the versions that hold randomness or a clock
// (RFC 9562: 1, 4, 6 and 7), ULIDs, and bare hexadecimal.
func identifierFacts(content []byte) facts {
	switch len(content) {
	case 36:
		if isRandomUUID(content) {
			return factRandomID
		}
	case 26:
		if isULID(content) {
			return factRandomID
		}
	case 16, 32, 40, 64:
		if isHex(content) {
			return factHex
		}
	}
	return 0
}

func isRandomUUID(b []byte) bool {
	for i, c := range b {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if hexDigit(c) < 0 {
			return false
		}
	}
	switch b[14] {
	case '1', '4', '6', '7':
	default:
		return false
	}
	variant := hexDigit(b[19])
	return variant >= 0x8 && variant <= 0xB
}

// isULID reads 26 digits of Crockford's base 32 that fit into 128 bits.
func isULID(b []byte) bool {
	if b[0] < '0' || b[0] > '7' {
		return false
	}
	for _, c := range b {
		if isLower(c) {
			c -= 'a' - 'A'
		}
		if !isDigit(c) && (!isUpper(c) || c == 'I' || c == 'L' || c == 'O' || c == 'U') {
			return false
		}
	}
	return true
}

// isHex wants at least one letter: digits alone are more often a number.
func isHex(b []byte) bool {
	letter := false
	for _, c := range b {
		if hexDigit(c) < 0 {
			return false
		}
		letter = letter || !isDigit(c)
	}
	return letter
}

// isRequestHex recognises trace and request identifiers of 8 or 16 bytes.
func isRequestHex(b []byte) bool {
	return (len(b) == 16 || len(b) == 32) && isLowerHex(b)
}

func isLowerHex(b []byte) bool {
	for _, c := range b {
		if hexDigit(c) < 0 || isUpper(c) {
			return false
		}
	}
	return true
}

// isTraceparent recognises a W3C trace context header: version, trace, parent,
// flags. Later versions may append fields.
func isTraceparent(b []byte) bool {
	const length = len("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	if len(b) < length || b[2] != '-' || b[35] != '-' || b[52] != '-' {
		return false
	}
	version, trace, parent := b[:2], b[3:35], b[36:52]
	if !isLowerHex(version) || !isLowerHex(trace) || !isLowerHex(parent) || !isLowerHex(b[53:55]) {
		return false
	}
	if string(version) == "ff" || allZero(trace) || allZero(parent) {
		return false
	}
	return len(b) == length || string(version) != "00" && b[length] == '-'
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != '0' {
			return false
		}
	}
	return true
}
