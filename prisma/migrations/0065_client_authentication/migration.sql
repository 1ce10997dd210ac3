-- CreateEnum
CREATE TYPE "token_endpoint_auth_method" AS ENUM ('client_secret_basic', 'client_secret_post', 'private_key_jwt');

-- AlterTable
ALTER TABLE "app" ADD COLUMN     "jwks_uri" TEXT,
ADD COLUMN     "public_keys" JSONB NOT NULL DEFAULT '[]',
ADD COLUMN     "token_endpoint_auth_method" "token_endpoint_auth_method" NOT NULL DEFAULT 'client_secret_basic';
