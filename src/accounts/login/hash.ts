import { argon2Sync, type Argon2Parameters } from "node:crypto";

export default (parameters: Argon2Parameters): Buffer => argon2Sync("argon2id", parameters);
