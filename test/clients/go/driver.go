// Does with the generated Go clients what it is told on standard input, and prints JSON.
// driver run: makes the calls of a scenario. driver types: tells the types of the models.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"schultor/idm"
	"schultor/schulconnex"
	sign_on "schultor/sign-on"
)

type step struct {
	Bundle, Operation, As, Api, Keep string
	Parameters                       map[string]json.RawMessage
}

type access struct{ Username, Password, AccessToken string }

type told struct {
	Url    string
	Steps  []step
	Access map[string]access
}

type refusal struct {
	Status int         `json:"status"`
	Type   string      `json:"type"`
	Body   interface{} `json:"body"`
}

type done struct {
	Value interface{} `json:"value,omitempty"`
	Error *refusal    `json:"error,omitempty"`
}

// What the errors of all three clients have.
type refused interface {
	error
	Model() interface{}
	Body() []byte
}

func clientOf(bundle string, url string, by access) (interface{}, context.Context) {
	ctx := context.Background()
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: by.AccessToken})
	switch bundle {
	case "idm":
		configuration := idm.NewConfiguration()
		configuration.Servers[0].URL = url
		return idm.NewAPIClient(configuration), context.WithValue(ctx, idm.ContextOAuth2, source)
	case "schulconnex":
		configuration := schulconnex.NewConfiguration()
		configuration.Servers[0].URL = url
		return schulconnex.NewAPIClient(configuration), context.WithValue(ctx, schulconnex.ContextOAuth2, source)
	}
	configuration := sign_on.NewConfiguration()
	configuration.Servers[0].URL = url
	if by.AccessToken != "" {
		return sign_on.NewAPIClient(configuration), context.WithValue(ctx, sign_on.ContextOAuth2, source)
	}
	basic := sign_on.BasicAuth{UserName: by.Username, Password: by.Password}
	return sign_on.NewAPIClient(configuration), context.WithValue(ctx, sign_on.ContextBasicAuth, basic)
}

var wordStart = regexp.MustCompile(`(?:^|[-_])([a-z])`)

func pascal(name string) string {
	return wordStart.ReplaceAllStringFunc(name, func(match string) string {
		return strings.ToUpper(strings.TrimLeft(match, "-_"))
	})
}

// A value of the type that a parameter has, from its JSON.
func typed(kind reflect.Type, text json.RawMessage) reflect.Value {
	value := reflect.New(kind)
	if err := json.Unmarshal(text, value.Interface()); err != nil {
		panic(err)
	}
	return value.Elem()
}

func call(it step, told told) done {
	client, ctx := clientOf(it.Bundle, told.Url, told.Access[it.As])
	service := reflect.ValueOf(client).Elem().FieldByName(strings.TrimSuffix(it.Api, "Api") + "API")
	start := service.MethodByName(pascal(it.Operation))
	arguments := []reflect.Value{reflect.ValueOf(ctx)}
	// What stands in the path is given at once, all else by its name.
	inPath := start.Type().NumIn() > 1
	if inPath {
		arguments = append(arguments, typed(start.Type().In(1), it.Parameters["id"]))
	}
	request := start.Call(arguments)[0]
	for name, text := range it.Parameters {
		if name != "id" || !inPath {
			set := request.MethodByName(pascal(name))
			request = set.Call([]reflect.Value{typed(set.Type().In(0), text)})[0]
		}
	}
	answer := request.MethodByName("Execute").Call(nil)
	last := len(answer) - 1
	if failed := answer[last].Interface(); failed != nil {
		known, ok := failed.(refused)
		if !ok {
			panic(failed)
		}
		status := answer[last-1].Interface().(*http.Response).StatusCode
		body := known.Model()
		if body == nil {
			// The client does not know application/problem+json as JSON.
			problem := idm.Problem{}
			if err := json.Unmarshal(known.Body(), &problem); err != nil {
				panic(err)
			}
			body = problem
		}
		return done{Error: &refusal{status, fmt.Sprintf("%T", failed), body}}
	}
	if token, ok := answer[0].Interface().(*sign_on.TokenResponse); ok && it.Keep != "" {
		told.Access[it.Keep] = access{AccessToken: token.AccessToken}
	}
	return done{Value: answer[0].Interface()}
}

type look struct {
	Kind     string   `json:"kind"`
	List     bool     `json:"list"`
	Nullable bool     `json:"nullable"`
	Values   []string `json:"values"`
}

// The constants of an enum are told by the list of them that its package has.
func lookAt(kind reflect.Type, allowed map[reflect.Type][]string) look {
	nullable := strings.HasPrefix(kind.Name(), "Nullable")
	if nullable {
		get, _ := kind.MethodByName("Get")
		kind = get.Type.Out(0)
	}
	if kind.Kind() == reflect.Ptr {
		kind = kind.Elem()
	}
	list := kind.Kind() == reflect.Slice
	if list {
		kind = kind.Elem()
	}
	values := allowed[kind]
	switch {
	case values != nil:
		return look{"enum", list, nullable, values}
	case kind == reflect.TypeOf(time.Time{}):
		return look{"date-time", list, nullable, nil}
	case kind.Kind() == reflect.String:
		return look{"text", list, nullable, nil}
	}
	return look{"other", list, nullable, nil}
}

func models() map[string]map[string]map[string]look {
	allowed := map[reflect.Type][]string{}
	for _, values := range allowedValues {
		list := reflect.ValueOf(values)
		for at := 0; at < list.Len(); at++ {
			kind := list.Type().Elem()
			allowed[kind] = append(allowed[kind], list.Index(at).String())
		}
	}
	all := map[string]map[string]map[string]look{}
	for bundle, models := range modelsOf {
		all[bundle] = map[string]map[string]look{}
		for _, model := range models {
			kind := reflect.TypeOf(model)
			fields := map[string]look{}
			for at := 0; at < kind.NumField(); at++ {
				name := strings.Split(kind.Field(at).Tag.Get("json"), ",")[0]
				fields[name] = lookAt(kind.Field(at).Type, allowed)
			}
			all[bundle][kind.Name()] = fields
		}
	}
	return all
}

func main() {
	var told told
	if err := json.NewDecoder(os.Stdin).Decode(&told); err != nil {
		panic(err)
	}
	var answer interface{}
	if os.Args[1] == "run" {
		all := []done{}
		for _, it := range told.Steps {
			all = append(all, call(it, told))
		}
		answer = all
	} else {
		answer = models()
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		panic(err)
	}
}
