package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"sync"

	"github.com/coreos/go-oidc"
	"golang.org/x/oauth2"
)

type user struct {
	Sub         string `json:"sub"`
	AccessToken string `json:"accessToken"`
	token       *oauth2.Token
}

// One person is enough here; an app keeps a session for each browser.
var (
	mutex  sync.Mutex
	signed *user
)

func write(w http.ResponseWriter, value interface{}, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value)
}

func main() {
	ctx := context.Background()
	// configuration
	provider, err := oidc.NewProvider(ctx, os.Getenv("ISSUER"))
	if err != nil {
		panic(err)
	}
	config := oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		Endpoint:     provider.Endpoint(),
		RedirectURL:  os.Getenv("BASE_URL") + "/callback",
		Scopes:       []string{oidc.ScopeOpenID, "profile", oidc.ScopeOfflineAccess},
	}
	verifier := provider.Verifier(&oidc.Config{ClientID: config.ClientID})
	// end of configuration

	http.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "state", Value: "state-of-the-app", Path: "/"})
		http.Redirect(w, r, config.AuthCodeURL("state-of-the-app", oidc.Nonce("nonce-of-the-app")), http.StatusFound)
	})
	http.HandleFunc("/callback", func(w http.ResponseWriter, r *http.Request) {
		state, err := r.Cookie("state")
		if err != nil || r.URL.Query().Get("state") != state.Value {
			http.Error(w, "state", http.StatusBadRequest)
			return
		}
		token, err := config.Exchange(ctx, r.URL.Query().Get("code"))
		if err != nil {
			write(w, nil, err)
			return
		}
		idToken, err := verifier.Verify(ctx, token.Extra("id_token").(string))
		if err != nil || idToken.Nonce != "nonce-of-the-app" {
			write(w, "nonce", err)
			return
		}
		mutex.Lock()
		signed = &user{Sub: idToken.Subject, AccessToken: token.AccessToken, token: token}
		mutex.Unlock()
	})
	http.HandleFunc("/me", func(w http.ResponseWriter, r *http.Request) {
		if signed == nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		write(w, signed, nil)
	})
	http.HandleFunc("/userinfo", func(w http.ResponseWriter, r *http.Request) {
		var claims map[string]interface{}
		info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(signed.token))
		if err == nil {
			err = info.Claims(&claims)
		}
		write(w, claims, err)
	})
	http.HandleFunc("/refresh", func(w http.ResponseWriter, r *http.Request) {
		token, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: signed.token.RefreshToken}).Token()
		if err != nil {
			write(w, nil, err)
			return
		}
		write(w, user{Sub: signed.Sub, AccessToken: token.AccessToken}, nil)
	})
	panic(http.ListenAndServe("localhost:"+os.Getenv("PORT"), nil))
}
