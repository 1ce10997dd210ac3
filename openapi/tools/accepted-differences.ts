/**
 * Differences from the last release that are allowed, though an app may have to change for them: each says why no app
 * that was written for the release meets them unasked. An entry goes when the next release has the difference.
 *
 * Shape: by document, `kind: where` as the check prints it.
 */
export const acceptedDifferences: Readonly<Record<string, readonly string[]>> = {
  // The scopes oneroster:read and person-info, and the spelling V1_8, which a program meets only of an app that staff
  // registered for them.
  admin: [
    ...[
      "GET /admin/v1/people/{personId}/data 200.apps[].consent.scopes[]",
      "GET /admin/v1/people/{personId}/data 200.consents[].scopes[]",
      "GET /admin/v1/people/{personId}/sign-in-explanation 200.steps[].values.scopes[]",
      "GET /admin/v1/people/{personId}/sign-in-explanation 200.steps[].values.missingScopes[]",
      "GET /admin/v1/apps 200[].scopes[]",
      "GET /admin/v1/apps 200[].defaultScopes[]",
      "GET /admin/v1/apps 200[].schulconnexSpelling",
      "POST /admin/v1/apps/{clientId}/scope-requests 201.scopes[]",
      "GET /admin/v1/schools/{schoolId}/catalogue 200[].scopes[]",
      "GET /admin/v1/apps/{clientId}/agreements 200[].scopes[].scope",
      "GET /admin/v1/schools/{schoolId}/apps/{clientId}/agreement 200.scopes[]",
      "GET /admin/v1/schools/{schoolId}/apps/{clientId}/agreement 200.accepted.scopes[]",
      "GET /admin/v1/schools/{schoolId}/apps/{clientId}/agreement 200.addedScopes[]",
      "GET /admin/v1/schools/{schoolId}/apps/{clientId}/agreement 200.withheldScopes[].scope",
      "GET /admin/v1/schools/{schoolId}/agreement-receipts 200[].scopes[]",
    ].map((where) => `enum-value-added: ${where}`),
    // A program meets them only at schools that switch pictures or class lists on.
    ...["reason", "steps[].code"].map(
      (where) => `enum-value-added: GET /admin/v1/people/{personId}/sign-in-explanation 200.${where}`,
    ),
    // Answered only to a program that names it in its request.
    "enum-value-added: GET /admin/v1/figures 200.metric",
    // The new pattern takes every path that the old one took, and those of OneRoster.
    "limit-changed: GET /admin/v1/apps/{clientId}/answer query path",
  ],
  // Left out it means what it meant: the description says so now. PHP clients sent the default, spelt as 0.
  idm: ["groups", "people"].map((list) => `default-changed: GET /idm/ep/v1/schools/{id}/${list} query show-deleted`),
  // Only a request with `response_mode=form_post` meets it, which was refused before.
  "sign-on": ["success-added: GET /oauth2/auth 200"],
  // They are sent as before, as the descriptions say: servers generated in Python refuse every value of a
  // header that has a pattern.
  webhooks: ["person", "group", "school"].flatMap((event) =>
    ["X-EP-Signature-Sha256", "webhook-timestamp", "webhook-signature"].map(
      (header) => `limit-changed: POST /webhooks/${event} header ${header}`,
    ),
  ),
};
