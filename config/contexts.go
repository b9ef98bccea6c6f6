package config

// ContextSummary is one line of the list of contexts.
type ContextSummary struct {
	Name string
	// Current: the file's current_context names it, or it is the only one. IDEMCTL_CONTEXT and --context are not
	// looked at.
	Current bool
	// Server is the Redis as written, masked: the uri, else the addresses with commas; "" when none is named.
	Server string
	// Ledgers are the names of its ledgers, never nil.
	Ledgers   []string
	Rules     int
	Protected bool
	ReadOnly  bool
	// Source is where the context begins.
	Source Source
}

// Summaries lists the contexts in the order of the file. It is never nil.
func (file *File) Summaries() []ContextSummary {
	out := make([]ContextSummary, 0, len(file.Contexts))
	for n := range file.Contexts {
		context := &file.Contexts[n]
		current := file.CurrentContext.Value == context.Name.Value
		if !file.CurrentContext.IsSet() {
			current = len(file.Contexts) == 1
		}
		server, _ := maskReferences(context.Redis.URI.Value.Reveal())
		for _, addresses := range []Setting[[]string]{context.Redis.ClusterAddrs, context.Redis.SentinelAddrs} {
			if addresses.IsSet() {
				server = shownAddresses(addresses.Value)
			}
		}
		out = append(out, ContextSummary{
			Name: context.Name.Value, Current: current, Server: server,
			Ledgers: append([]string{}, context.ledgerNames()...), Rules: len(context.Rules),
			Protected: context.Protected.Value, ReadOnly: context.ReadOnly.Value, Source: context.Source,
		})
	}
	return out
}
