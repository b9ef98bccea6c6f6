package inspect

import (
	"maps"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// taskMessage describes asynq's TaskMessage (internal/proto/asynq.proto) to the
// protobuf library, which then decodes it as asynq does.
func taskMessage(t testing.TB) protoreflect.MessageDescriptor {
	t.Helper()
	field := func(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{
			Name: proto.String(name), Number: proto.Int32(number), Type: kind.Enum(),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		}
	}
	const (
		text  = descriptorpb.FieldDescriptorProto_TYPE_STRING
		bytes = descriptorpb.FieldDescriptorProto_TYPE_BYTES
		i32   = descriptorpb.FieldDescriptorProto_TYPE_INT32
		i64   = descriptorpb.FieldDescriptorProto_TYPE_INT64
	)
	headers := field("headers", fieldHeaders, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE)
	headers.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	headers.TypeName = proto.String(".asynq.TaskMessage.HeadersEntry")
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("asynq.proto"), Package: proto.String("asynq"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{
			Name: proto.String("TaskMessage"),
			Field: []*descriptorpb.FieldDescriptorProto{
				field("type", fieldType, text), field("payload", fieldPayload, bytes), field("id", fieldID, text),
				field("queue", fieldQueue, text), field("retry", fieldRetry, i32), field("retried", fieldRetried, i32),
				field("error_msg", fieldErrorMsg, text), field("timeout", fieldTimeout, i64), field("deadline", fieldDeadline, i64),
				field("unique_key", fieldUniqueKey, text), field("last_failed_at", fieldLastFailedAt, i64),
				field("retention", fieldRetention, i64), field("completed_at", fieldCompletedAt, i64),
				field("group_key", fieldGroupKey, text), headers,
			},
			NestedType: []*descriptorpb.DescriptorProto{{
				Name:    proto.String("HeadersEntry"),
				Field:   []*descriptorpb.FieldDescriptorProto{field("key", 1, text), field("value", 2, text)},
				Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)},
			}},
		}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file.Messages().ByName("TaskMessage")
}

// byLibrary decodes as asynq does and shows the result as asynq's TaskInfo would.
func byLibrary(desc protoreflect.MessageDescriptor, b []byte) (Task, error) {
	m := dynamicpb.NewMessage(desc)
	if err := proto.Unmarshal(b, m); err != nil {
		return Task{}, err
	}
	value := func(number protoreflect.FieldNumber) protoreflect.Value {
		return m.Get(desc.Fields().ByNumber(number))
	}
	t := Task{
		Type: value(fieldType).String(), Payload: value(fieldPayload).Bytes(),
		MaxRetry: int(value(fieldRetry).Int()), Retried: int(value(fieldRetried).Int()), LastErr: value(fieldErrorMsg).String(),
		Timeout: time.Duration(value(fieldTimeout).Int()) * time.Second, Retention: time.Duration(value(fieldRetention).Int()) * time.Second,
		Deadline: unixOrZero(value(fieldDeadline).Int()), LastFailedAt: unixOrZero(value(fieldLastFailedAt).Int()),
		CompletedAt: unixOrZero(value(fieldCompletedAt).Int()), UniqueKey: value(fieldUniqueKey).String(), Group: value(fieldGroupKey).String(),
	}
	value(fieldHeaders).Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		if t.Headers == nil {
			t.Headers = make(map[string]string)
		}
		t.Headers[k.String()] = v.String()
		return true
	})
	return t, nil
}

// FuzzDecodeMessage holds the decoder equal to the protobuf library, in what it
// reads and in what it refuses.
func FuzzDecodeMessage(f *testing.F) {
	desc := taskMessage(f)
	for _, seed := range []string{
		"\x0a\x01t\x12\x02{}\x1a\x02id\x22\x01q\x28\x19\x30\x03\x3a\x03err\x40\x88\x0e\x48\x01\x52\x01u\x58\x02\x60\x03\x68\x04\x72\x01g\x7a\x06\x0a\x01k\x12\x01v",
		"\x0a\x01\xff", "\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x7a\x00", "\x7a\x02\x08\x01", "\x13\x14", "\x0b\x0c", "\x00",
		"\x0d\x01\x02\x03\x04", "\x12\x00", "\x12\x05ab", "\xfa\x01\x01x", "\x7a\x03\x0a\x01\xff", "\x88\x88\x88\x8800",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var names interner
		var got Task
		err := names.decodeMessage(b, &got)
		want, wantErr := byLibrary(desc, b)
		if len(b) == 0 {
			wantErr = errMessage
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("decoding %x: error %v, the library says %v", b, err, wantErr)
		}
		if err == nil && !sameMessage(got, want) {
			t.Errorf("decoding %x:\n%+v, the library reads\n%+v", b, got, want)
		}
	})
}

func sameMessage(a, b Task) bool {
	return a.Unmoved(b) && a.MaxRetry == b.MaxRetry && a.Timeout == b.Timeout && a.Retention == b.Retention &&
		a.Deadline.Equal(b.Deadline) && a.UniqueKey == b.UniqueKey && a.Group == b.Group && maps.Equal(a.Headers, b.Headers)
}

// FuzzDecodeServer: no bytes from asynq:servers, asynq:workers or
// asynq:schedulers make a decoder panic.
func FuzzDecodeServer(f *testing.F) {
	f.Add([]byte("\x0a\x01h\x10\x01\x1a\x01i\x2a\x05\x0a\x01q\x10\x01\x42\x02\x08\x01"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = decodeServer(b)
		_, _ = decodeSchedule(b)
		_ = decodeWorkers([]string{string(b)})
	})
}
