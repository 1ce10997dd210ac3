-- AlterTable
ALTER TABLE "import" ADD COLUMN     "speaks_of" TEXT[] DEFAULT ARRAY['KLASSE', 'KURS', 'SONSTIG', 'GROUP', 'MEMBERSHIP', 'ROLE', 'NAME', 'MIDDLE_NAME', 'CALL_NAME']::TEXT[];

-- AlterTable
ALTER TABLE "staged_person" ADD COLUMN     "silent_about" TEXT[] DEFAULT ARRAY[]::TEXT[];
