-- CreateTable
CREATE TABLE "withheld_period" (
    "client_id" TEXT NOT NULL,
    "school_id" UUID NOT NULL,
    "item" TEXT NOT NULL,
    "reason" "withheld_reason" NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3),

    CONSTRAINT "withheld_period_pkey" PRIMARY KEY ("client_id","school_id","item","reason","since")
);

-- CreateIndex
CREATE INDEX "withheld_period_until_idx" ON "withheld_period"("until");

-- CreateIndex
CREATE INDEX "withheld_period_school_id_idx" ON "withheld_period"("school_id");

-- AddForeignKey
ALTER TABLE "withheld_period" ADD CONSTRAINT "withheld_period_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "withheld_period" ADD CONSTRAINT "withheld_period_order_check" CHECK ("until" >= "since");

INSERT INTO "withheld_period" ("client_id", "school_id", "item", "reason", "since")
SELECT "client_id", "school_id", "item", "reason", "since" FROM "withheld_item";
