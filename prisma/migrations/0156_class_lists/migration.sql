-- CreateTable
CREATE TABLE "class_list" (
    "id" UUID NOT NULL,
    "group_id" UUID NOT NULL,
    "code_hash" BYTEA NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "class_list_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "class_list_group_id_key" ON "class_list"("group_id");

-- CreateIndex
CREATE UNIQUE INDEX "class_list_code_hash_key" ON "class_list"("code_hash");

-- CreateIndex
CREATE INDEX "class_list_ends_at_idx" ON "class_list"("ends_at");

-- AddForeignKey
ALTER TABLE "class_list" ADD CONSTRAINT "class_list_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "group"("id") ON DELETE CASCADE ON UPDATE CASCADE;
