package payloadtest

import "reflect"

// copier copies values deeply enough that maps and slices can be rebuilt without
// touching the original. Unexported fields are shared with it.
type copier struct {
	turning bool // reverse one slice
	skip    int  // slices before it; -1 once it was found
}

// maxNesting ends the copy of cyclic values, which json.Marshal refuses anyway.
const maxNesting = 200

func (c *copier) copyOf(v reflect.Value, depth int) reflect.Value {
	if !v.IsValid() {
		return reflect.Zero(reflect.TypeFor[any]())
	}
	if depth > maxNesting {
		return v
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return c.copyReference(v, depth)
	case reflect.Struct:
		return c.copyStruct(v, depth)
	case reflect.Map:
		return c.copyMap(v, depth)
	case reflect.Slice:
		return c.copySlice(v, depth)
	case reflect.Array:
		made := reflect.New(v.Type()).Elem()
		for i := range v.Len() {
			made.Index(i).Set(c.copyOf(v.Index(i), depth+1))
		}
		return made
	default:
		return v
	}
}

func (c *copier) copyReference(v reflect.Value, depth int) reflect.Value {
	if v.IsNil() {
		return v
	}
	inner := c.copyOf(v.Elem(), depth+1)
	if v.Kind() == reflect.Interface {
		made := reflect.New(v.Type()).Elem()
		made.Set(inner)
		return made
	}
	made := reflect.New(v.Type().Elem())
	made.Elem().Set(inner)
	return made
}

func (c *copier) copyStruct(v reflect.Value, depth int) reflect.Value {
	made := reflect.New(v.Type()).Elem()
	made.Set(v)
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			made.Field(i).Set(c.copyOf(v.Field(i), depth+1))
		}
	}
	return made
}

func (c *copier) copyMap(v reflect.Value, depth int) reflect.Value {
	if v.IsNil() {
		return v
	}
	made := reflect.MakeMapWithSize(v.Type(), v.Len())
	keys := v.MapKeys()
	shuffle(keys)
	for _, key := range keys {
		made.SetMapIndex(key, c.copyOf(v.MapIndex(key), depth+1))
	}
	return made
}

func (c *copier) copySlice(v reflect.Value, depth int) reflect.Value {
	if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
		return v
	}
	reverse := c.turning && c.skip >= 0 && reversible(v)
	if reverse {
		c.skip--
		reverse = c.skip < 0
	}
	made := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	for i := range v.Len() {
		at := i
		if reverse {
			at = v.Len() - 1 - i
		}
		made.Index(at).Set(c.copyOf(v.Index(i), depth+1))
	}
	return made
}

// reversible says whether a slice reads differently from its end.
func reversible(v reflect.Value) bool {
	n := v.Len()
	for i := range n / 2 {
		if !reflect.DeepEqual(v.Index(i).Interface(), v.Index(n-1-i).Interface()) {
			return true
		}
	}
	return false
}
