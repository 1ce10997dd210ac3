#!/bin/sh
case "$SCRIPT_NAME" in
  /me) printf 'Content-Type: application/json\n\n{"sub":"%s","accessToken":"%s"}' "$OIDC_CLAIM_sub" "$OIDC_access_token" ;;
  /userinfo) printf 'Content-Type: application/json\n\n%s' "$OIDC_userinfo_json" ;;
  /refresh) printf 'Location: http://%s/callback?refresh=http://%s/me&access_token=%s\n\n' "$HTTP_HOST" "$HTTP_HOST" "$OIDC_access_token" ;;
esac
