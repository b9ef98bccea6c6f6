package payload

// stringValue reads a string that is not a member name.
func (s *parser) stringValue() bool {
	if !s.scan() {
		return false
	}
	s.judgeText()
	if s.report != nil {
		s.judgeString()
	}
	return true
}

// judgeText applies the rules on how a string or a name is spelled.
func (s *parser) judgeText() {
	t := &s.text
	if t.flags == 0 {
		return
	}
	if t.flags&textRespelt != 0 {
		s.respelt = true
	}
	if t.flags&textBad != 0 {
		if s.report != nil && s.report.counts[InvalidUTF8] == 0 {
			s.find(InvalidUTF8, atRoot, t.bad, undefinedMessages[InvalidUTF8])
		}
		s.forbid(InvalidUTF8, t.bad)
	}
	if t.flags&textLone != 0 {
		s.forbid(LoneSurrogate, t.lone)
		s.find(LoneSurrogate, atValue, t.lone, undefinedMessages[LoneSurrogate])
	}
	if s.report == nil {
		return
	}
	if t.flags&textHTML != 0 {
		s.find(HTMLEscape, atValue, t.html, "<, > or & is escaped")
	}
	if t.flags&textOther != 0 {
		s.find(StringEscape, atValue, t.other, "a character is escaped that the canonical form spells otherwise")
	}
	if t.flags&textWide != 0 && !isNFC(s.meaning()) {
		s.find(UnicodeNotNFC, atValue, s.quoted(), "normalisation form C would change the text, so a look-alike exists")
	}
}

// meaning is the unescaped content of the string just scanned, until the next one.
func (s *parser) meaning() []byte {
	content := s.p[s.text.start:s.text.end]
	if s.text.flags&(textEscaped|textBad) == 0 {
		return content
	}
	s.content = unescape(s.content[:0], content)
	return s.content
}

// quoted is the string literal just scanned, with its quotes.
func (s *parser) quoted() span { return span{s.text.start - 1, s.text.end + 1} }

// judgeString applies the rules on string values. The first byte rules most of
// them out, so that few strings have to be unescaped.
func (s *parser) judgeString() {
	class := s.class()
	if s.text.start == s.text.end {
		return
	}
	first := s.p[s.text.start]
	if hexDigit(first) < 0 && first != '\\' && first != '{' && first != '[' && len(s.frames) > 0 {
		if class&nameVolatile != 0 {
			s.findFacts(factVolatile, s.quoted())
		}
		return
	}
	content := s.meaning()
	if found := stringFacts(content, class); found != 0 {
		s.findFacts(found, s.quoted())
	}
	switch {
	case len(s.frames) == 0:
		if s.nested().isDoubleEncoded(content) {
			s.find(DoubleEncoded, atValue, s.quoted(), "the text of this string is itself JSON, or base64 of JSON")
		}
	case content[0] == '{' || content[0] == '[':
		if inner := s.nested(); inner.parse(content, nil) == nil && !inner.isCanonical() {
			s.find(EmbeddedJSON, atValue, s.quoted(), "the JSON in this string is not canonical")
		}
	}
}

// nested is the parser for JSON inside strings. It never reports, so one is enough.
func (s *parser) nested() *parser {
	if s.inner == nil {
		s.inner = new(parser)
	}
	return s.inner
}

// class is what the name of the value just read says about it.
func (s *parser) class() nameClass {
	i := s.nameIndex()
	if i < 0 {
		return 0
	}
	m := &s.members[i]
	if m.class == 0 {
		m.class = s.names.classify(s.nameOf(m))
	}
	return m.class
}

// nullValue reads null.
func (s *parser) nullValue() bool {
	start := s.i
	if !s.literal("null") {
		return false
	}
	if len(s.frames) > 0 && s.frames[len(s.frames)-1].object {
		s.find(NullMember, atValue, span{start, s.i}, "another producer may leave the member out")
	}
	return true
}
