-- AlterEnum
ALTER TYPE "schulconnex_spelling" ADD VALUE 'V1_8';
