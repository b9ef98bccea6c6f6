package reconcile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idemctl/idemctl/reconcile"
)

func TestKeyNamesEveryFieldThatItReads(t *testing.T) {
	type fields = []reconcile.Field
	for text, want := range map[string]fields{
		"":                                       nil,
		`queue + ":" + type`:                     nil,
		"payload":                                {{"payload"}},
		"payload.card.number":                    {{"payload", "card", "number"}},
		`payload["card"].number + "-" + id`:      {{"payload", "card", "number"}},
		"payload?.card?.number ?? payload.order": {{"payload", "card", "number"}, {"payload", "order"}},
		"payload.items[0].sku":                   {{"payload", "items", "0", "sku"}},
		"payload[id].card":                       {{"payload"}},
		"payload.cards[payload.n]":               {{"payload", "cards", "*"}, {"payload", "n", "*"}},
		`headers.tenant + payload.a`:             {{"headers", "tenant"}, {"payload", "a"}},
		`map(payload.items, .sku)[0]`:            {{"payload", "items", "*"}},
		`(payload.card ?? payload.alt).number`:   {{"payload", "card", "*"}, {"payload", "alt", "*"}},
		`last(values(payload.card))`:             {{"payload", "card", "*"}},
		`toJSON(payload.card)`:                   {{"payload", "card", "*"}},
		`first(payload.cards).number`:            {{"payload", "cards", "*"}},
		`let p = payload; p.card`:                {{"payload"}},
		`$env["payload"].card`:                   {{"payload"}, {"headers"}},
		`upper(payload.card)`:                    {{"payload", "card"}},
		`payload.n > 1 ? payload.a : payload.b`:  {{"payload", "n"}, {"payload", "a"}, {"payload", "b"}},
	} {
		k, err := reconcile.CompileKey(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, k.Reads()); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}
