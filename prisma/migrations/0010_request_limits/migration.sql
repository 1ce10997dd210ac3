-- CreateTable
CREATE TABLE "rate_limit" (
    "key" BYTEA NOT NULL,
    "full_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rate_limit_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE INDEX "rate_limit_full_at_idx" ON "rate_limit"("full_at");

-- CreateIndex
CREATE INDEX "sign_in_place_place_idx" ON "sign_in_place"("place");

-- Written by hand: what has expired is found by kind. Access tokens are kept a day longer than everything else, and a client's own
-- are counted. Each artifact is in one of the three indexes.
DROP INDEX "oidc_artifact_expires_at_idx";
CREATE INDEX "oidc_artifact_expires_at_idx" ON "oidc_artifact" ("expires_at") WHERE "kind" NOT IN ('AccessToken', 'ClientCredentials');
CREATE INDEX "oidc_artifact_access_token_idx" ON "oidc_artifact" ("expires_at") WHERE "kind" = 'AccessToken';
CREATE INDEX "oidc_artifact_client_token_idx" ON "oidc_artifact" ("client_id", "expires_at") WHERE "kind" = 'ClientCredentials';

-- Interactions that are open now hold hints in clear; their sign-ons start again.
DELETE FROM "oidc_artifact" WHERE "kind" = 'Interaction';
