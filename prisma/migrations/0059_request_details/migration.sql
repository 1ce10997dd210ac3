-- AlterTable
ALTER TABLE "api_request" ADD COLUMN     "message" TEXT,
ADD COLUMN     "path" TEXT,
ADD COLUMN     "short_code" TEXT;

-- AlterTable
ALTER TABLE "sign_on_step" ADD COLUMN     "reason" TEXT,
ADD COLUMN     "short_code" TEXT;
