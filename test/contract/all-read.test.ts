import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const contracts = ["admin", "idm", "schulconnex"].map((name) => join(root, "generated/openapi", `${name}.ts`));
/** What the binding, or what every operation goes through, reads by its name in the document. */
const readForAll = ["If-None-Match", "If-Match", "Idempotency-Key", "cursor", "limit"];

/**
 * Names the parameters and properties of requests that no code reads: neither by name, nor by passing them on, with a
 * spread or whole, to something that declares them.
 *
 * Shape: `operation place.name`, or `schema.name`.
 */
function findUnread(program: ts.Program): string[] {
  const checker = program.getTypeChecker();
  const wanted = new Map<ts.Node, string>();
  for (const path of contracts) collectWanted(program.getSourceFile(path)!, wanted);
  const read = (symbol: ts.Symbol | undefined) =>
    symbol?.declarations?.forEach((declaration) => wanted.delete(declaration));
  const propertyOf = (type: ts.Type, name: string): ts.Symbol | undefined => {
    const plain = checker.getNonNullableType(type);
    const parts = plain.isUnionOrIntersection() ? plain.types : [plain];
    return parts.map((part) => checker.getPropertyOfType(part, name)).find((symbol) => symbol !== undefined);
  };
  const readType = (type: ts.Type, name: string) => read(propertyOf(type, name));
  /** What is passed on is read if another declaration has its name where it goes. */
  const pass = (from: ts.Type, to: ts.Type | undefined, depth = 0) => {
    if (to === undefined || to.flags & ts.TypeFlags.Any || depth > 2) return;
    for (const property of checker.getPropertiesOfType(checker.getNonNullableType(from))) {
      const target = propertyOf(to, property.name);
      if (target === undefined) continue;
      if (target.declarations?.[0] !== property.declarations?.[0]) read(property);
      pass(checker.getTypeOfSymbol(property), checker.getTypeOfSymbol(target), depth + 1);
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) read(checker.getSymbolAtLocation(node.name));
    else if (ts.isElementAccessExpression(node)) {
      const names = checker.getTypeAtLocation(node.argumentExpression);
      for (const name of names.isUnion() ? names.types : [names])
        if (name.isStringLiteral()) readType(checker.getTypeAtLocation(node.expression), name.value);
    } else if (ts.isBindingElement(node) && !node.dotDotDotToken && ts.isObjectBindingPattern(node.parent))
      readType(
        checker.getTypeAtLocation(node.parent),
        (node.propertyName ?? node.name).getText().replaceAll(/^"|"$/g, ""),
      );
    else if (ts.isSpreadAssignment(node))
      pass(checker.getTypeAtLocation(node.expression), checker.getContextualType(node.parent));
    else if (ts.isCallExpression(node)) {
      const declared = checker.getResolvedSignature(node)?.declaration?.parameters ?? [];
      for (const [index, argument] of node.arguments.entries()) {
        if (ts.isObjectLiteralExpression(argument)) continue;
        const type = checker.getTypeAtLocation(argument);
        pass(type, checker.getContextualType(argument));
        const parameter = declared[index] && checker.getTypeAtLocation(declared[index]);
        if (parameter?.isTypeParameter()) pass(type, checker.getBaseConstraintOfType(parameter));
      }
    }
    node.forEachChild(visit);
  };
  for (const file of program.getSourceFiles()) if (/\/src\/(admin|idm|schulconnex)\//.test(file.fileName)) visit(file);
  return [...wanted.values()];
}

const membersOf = (node: ts.Node | undefined): readonly ts.PropertySignature[] =>
  node && ts.isTypeLiteralNode(node) ? node.members.filter((member) => ts.isPropertySignature(member)) : [];
const nameOf = ({ name }: ts.PropertySignature) => name.getText().replaceAll(/^"|"$/g, "");

function collectWanted(file: ts.SourceFile, wanted: Map<ts.Node, string>): void {
  const typeOf = (name: string) =>
    file.statements.filter(ts.isInterfaceDeclaration).find((statement) => statement.name.text === name)!
      .members as ts.NodeArray<ts.PropertySignature>;
  const schemas = new Map(
    [...typeOf("components")]
      .filter((part) => nameOf(part) === "schemas")
      .flatMap((part) => membersOf(part.type).map((schema) => [nameOf(schema), schema.type])),
  );
  for (const operation of typeOf("operations")) {
    const parts = new Map(membersOf(operation.type).map((part) => [nameOf(part), part.type]));
    for (const place of membersOf(parts.get("parameters")))
      for (const parameter of membersOf(place.type))
        if (nameOf(place) !== "path" && !readForAll.includes(nameOf(parameter)))
          wanted.set(parameter, `${nameOf(operation)} ${nameOf(place)}.${nameOf(parameter)}`);
    const body = /components\["schemas"\]\["(\w+)"\]/.exec(parts.get("requestBody")?.getText() ?? "")?.[1];
    if (body !== undefined)
      for (const property of membersOf(schemas.get(body))) wanted.set(property, `${body}.${nameOf(property)}`);
  }
}

test("every parameter and every property of a body is read", () => {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile) as { config: object };
  const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, include: ["src"] }, ts.sys, root);
  expect(findUnread(ts.createProgram(fileNames, options))).toEqual([]);
});
