-- AlterTable
ALTER TABLE "app_event" ADD COLUMN     "traceparent" TEXT;

-- AlterTable
ALTER TABLE "webhook_delivery" ADD COLUMN     "traceparent" TEXT;
