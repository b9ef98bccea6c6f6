package config

import "fmt"

// othersMayRead is the permission of everybody to read a file.
const othersMayRead = 0o004

// warnOfReaders warns when everybody on the machine may read a password that is written out in the file.
func (file *File) warnOfReaders(env Environment) {
	if env.Stat == nil || env.Windows {
		return
	}
	state, err := env.Stat(file.Path)
	if err != nil || state.Mode().Perm()&othersMayRead == 0 {
		return
	}
	at, found := file.literalSecret()
	if !found {
		return
	}
	file.Warnings = append(file.Warnings, Warning{
		Where: at.Where,
		Problem: fmt.Sprintf("everybody may read this password (mode %04o); run chmod 600 %s, or write ${NAME} or file:PATH instead",
			state.Mode().Perm(), file.Path),
	})
}

// literalSecret finds the first password that is written out in the file.
func (file *File) literalSecret() (Source, bool) {
	for n := range file.Contexts {
		redis := &file.Contexts[n].Redis
		for _, secret := range []Setting[Secret]{redis.Password, redis.SentinelPassword} {
			if isLiteral(secret.Value.Reveal()) {
				return secret.Source, true
			}
		}
		conns := []Setting[ConnString]{redis.URI}
		for _, ledger := range file.Contexts[n].Ledgers {
			conns = append(conns, ledger.DSN)
		}
		for _, conn := range conns {
			text := conn.Value.Reveal()
			if _, hidden := maskReferences(text); hidden && isLiteral(text) {
				return conn.Source, true
			}
		}
	}
	return Source{}, false
}
