-- CreateTable
CREATE TABLE "former_algorithm" (
    "algorithm" "id_token_algorithm" NOT NULL,
    "used_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "former_algorithm_pkey" PRIMARY KEY ("algorithm")
);

-- Nobody recorded before which algorithms apps had left: keys of all stay published until such tokens have expired.
INSERT INTO "former_algorithm" ("algorithm", "used_until")
SELECT "algorithm", CURRENT_TIMESTAMP FROM unnest(enum_range(NULL::"id_token_algorithm")) AS "algorithm"
WHERE "algorithm" <> 'RS256' AND EXISTS (SELECT FROM "app" WHERE "client_id" <> 'schultor-cli');
