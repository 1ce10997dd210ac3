// What an app adds to the generated server: the signature, and what is done with an event.
//
// Prints its address, reads the secret of each path from standard input, then prints each event that it takes.
package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	openapi "schultor/webhook-server"
)

type events struct{}

func tell(event interface{}, action string, id string) (openapi.ImplResponse, error) {
	model := strings.TrimPrefix(fmt.Sprintf("%T", event), "openapi.")
	json.NewEncoder(os.Stdout).Encode(map[string]string{"model": model, "action": action, "id": id})
	return openapi.Response(http.StatusNoContent, nil), nil
}

func (events) ReceivePersonEvent(_ context.Context, _, _, _, _, _ string, event openapi.PersonEvent, _, _ string) (openapi.ImplResponse, error) {
	return tell(event, event.Action, event.PersonId)
}

func (events) ReceiveGroupEvent(_ context.Context, _, _, _, _, _ string, event openapi.GroupEvent, _, _ string) (openapi.ImplResponse, error) {
	return tell(event, event.Action, event.GroupId)
}

func (events) ReceiveSchoolEvent(_ context.Context, _, _, _, _, _ string, event openapi.SchoolEvent, _, _ string) (openapi.ImplResponse, error) {
	return tell(event, event.Action, event.SchoolId)
}

// Verifies the signature over the bytes as they came, before anything parses them.
func verified(next http.Handler, secrets map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "not readable", http.StatusBadRequest)
			return
		}
		hash := hmac.New(sha256.New, []byte(secrets[r.URL.Path]))
		hash.Write(body)
		given, _ := hex.DecodeString(r.Header.Get("X-EP-Signature-Sha256"))
		if !hmac.Equal(given, hash.Sum(nil)) {
			http.Error(w, "wrong signature", http.StatusUnauthorized)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	secrets := map[string]string{}
	if err := json.NewDecoder(os.Stdin).Decode(&secrets); err != nil {
		panic(err)
	}
	router := openapi.NewRouter(openapi.NewEventsAPIController(events{}))
	panic(http.Serve(listener, verified(router, secrets)))
}
