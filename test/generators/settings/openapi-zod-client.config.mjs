import SwaggerParser from "@apidevtools/swagger-parser";
import { generateZodClientFromOpenAPI } from "openapi-zod-client";
import { bundles } from "./bundles.mjs";

const options = {
  withAlias: true,
  additionalPropertiesDefaultValue: true,
  shouldExportAllSchemas: true,
  isMediaTypeAllowed: "mediaType.includes('json') || mediaType.includes('form')",
};

// As its own program does, without starting it for each bundle.
for (const name of bundles)
  await generateZodClientFromOpenAPI({
    openApiDoc: await SwaggerParser.bundle(`bundles/${name}.yaml`),
    distPath: `clients/openapi-zod-client/${name}/client.ts`,
    prettierConfig: null,
    options,
  });
