package journal

import (
	"fmt"
	"time"
)

type imageJSON struct {
	Key      string      `json:"key,omitempty"`
	KeyB64   []byte      `json:"key_b64,omitempty"`
	Fields   []fieldJSON `json:"fields,omitempty"`
	Places   []placeJSON `json:"places,omitempty"`
	Lock     *lockJSON   `json:"lock,omitempty"`
	Redacted bool        `json:"redacted,omitempty"`
}

type fieldJSON struct {
	Name     string `json:"name,omitempty"`
	NameB64  []byte `json:"name_b64,omitempty"`
	Value    string `json:"value,omitempty"`
	ValueB64 []byte `json:"value_b64,omitempty"`
}

type placeJSON struct {
	Key    string  `json:"key,omitempty"`
	KeyB64 []byte  `json:"key_b64,omitempty"`
	Score  *string `json:"score,omitempty"` // decimal, or ±Inf
}

type lockJSON struct {
	Key      string    `json:"key,omitempty"`
	KeyB64   []byte    `json:"key_b64,omitempty"`
	Owner    string    `json:"owner,omitempty"`
	OwnerHex string    `json:"owner_hex,omitempty"`
	ExpireAt time.Time `json:"expire_at,omitzero"`
}

func imageWire(t *TaskImage) *imageJSON {
	if t == nil {
		return nil
	}
	key := spell(t.Key)
	w := &imageJSON{Key: key.plain, KeyB64: key.base64, Redacted: t.Redacted}
	for _, f := range t.Fields {
		name, value := spell(f.Name), spell(f.Value)
		w.Fields = append(w.Fields, fieldJSON{name.plain, name.base64, value.plain, value.base64})
	}
	for _, p := range t.Places {
		key := spell(p.Key)
		w.Places = append(w.Places, placeJSON{key.plain, key.base64, formatScore(p.Score)})
	}
	if t.Lock != nil {
		key := spell(t.Lock.Key)
		w.Lock = &lockJSON{Key: key.plain, KeyB64: key.base64, ExpireAt: t.Lock.ExpireAt.UTC()}
		w.Lock.Owner, w.Lock.OwnerHex = spellID(t.Lock.Owner)
	}
	return w
}

func (w *imageJSON) image() (*TaskImage, error) {
	if w == nil {
		return nil, nil //nolint:nilnil // a record without a task
	}
	t := &TaskImage{Key: unspell(w.Key, w.KeyB64), Redacted: w.Redacted}
	for _, f := range w.Fields {
		t.Fields = append(t.Fields, Field{unspell(f.Name, f.NameB64), unspell(f.Value, f.ValueB64)})
	}
	for _, p := range w.Places {
		score, err := parseScore(p.Score)
		if err != nil {
			return nil, err
		}
		t.Places = append(t.Places, Place{unspell(p.Key, p.KeyB64), score})
	}
	if w.Lock != nil {
		owner, err := unspellID(w.Lock.Owner, w.Lock.OwnerHex)
		if err != nil {
			return nil, fmt.Errorf("owner_hex: %w", err)
		}
		t.Lock = &LockImage{Key: unspell(w.Lock.Key, w.Lock.KeyB64), Owner: owner, ExpireAt: w.Lock.ExpireAt.UTC()}
	}
	return t, nil
}
