-- CreateTable
CREATE TABLE "last_call" (
    "client_id" TEXT NOT NULL,
    "school_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "last_call_pkey" PRIMARY KEY ("school_id","client_id")
);

-- CreateIndex
CREATE INDEX "last_call_client_id_idx" ON "last_call"("client_id");

-- AddForeignKey
ALTER TABLE "last_call" ADD CONSTRAINT "last_call_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "last_call" ADD CONSTRAINT "last_call_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;
