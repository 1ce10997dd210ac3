-- AlterTable
ALTER TABLE "import" ADD COLUMN     "other_school" TEXT;

-- AlterTable
ALTER TABLE "staged_group" ADD COLUMN     "may_mean" TEXT[] DEFAULT ARRAY[]::TEXT[];
