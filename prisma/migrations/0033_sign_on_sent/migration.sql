-- AlterTable
ALTER TABLE "sign_on_step" ADD COLUMN     "sent" JSONB;
