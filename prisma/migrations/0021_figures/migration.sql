-- CreateTable
CREATE TABLE "figure" (
    "metric" TEXT NOT NULL,
    "step" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "outcome" TEXT NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "figure_pkey" PRIMARY KEY ("metric","step","subject","at","outcome")
);

-- CreateTable
CREATE TABLE "job_run" (
    "name" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "outcome" TEXT NOT NULL,

    CONSTRAINT "job_run_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "api_request" (
    "id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "operation_id" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "code" TEXT,
    "duration_ms" INTEGER NOT NULL,

    CONSTRAINT "api_request_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_on_step" (
    "id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "attempt" TEXT NOT NULL,
    "step" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "code" TEXT,
    "description" TEXT,

    CONSTRAINT "sign_on_step_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "figure_step_at_idx" ON "figure"("step", "at");

-- CreateIndex
CREATE INDEX "api_request_client_id_id_idx" ON "api_request"("client_id", "id");

-- CreateIndex
CREATE INDEX "api_request_client_id_request_id_idx" ON "api_request"("client_id", "request_id");

-- CreateIndex
CREATE INDEX "api_request_at_idx" ON "api_request"("at");

-- CreateIndex
CREATE INDEX "sign_on_step_client_id_id_idx" ON "sign_on_step"("client_id", "id");

-- CreateIndex
CREATE INDEX "sign_on_step_at_idx" ON "sign_on_step"("at");

-- AddForeignKey
ALTER TABLE "api_request" ADD CONSTRAINT "api_request_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_on_step" ADD CONSTRAINT "sign_on_step_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand: sorted and compared as bytes, so that processes write rows in one order; the words that a column may hold.
ALTER TABLE "figure"
  ALTER COLUMN "subject" TYPE text COLLATE "C",
  ADD CONSTRAINT "figure_step_check" CHECK ("step" IN ('HOUR', 'DAY')),
  ADD CONSTRAINT "figure_subject_check" CHECK ("subject" ~ '^($|app:|school:)');
ALTER TABLE "sign_on_step"
  ADD CONSTRAINT "sign_on_step_outcome_check" CHECK ("outcome" IN ('done', 'waiting', 'refused'));
