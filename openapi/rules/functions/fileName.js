const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
const countOperations = (data) => methods.filter((method) => data?.[method]?.responses !== undefined).length;

/** Reports an operation that has a file of its own, which is not named after its operationId. */
export default function fileName(operation, _options, context) {
  const item = context.documentInventory.findAssociatedItemForPath(context.path, true);
  const source = item?.document.source;
  if (!source || source === context.documentInventory.source || countOperations(item.document.data) > 1) return;
  const name = source
    .split(/[\\/]/)
    .pop()
    .replace(/\.ya?ml$/, "");
  if (name !== operation.operationId)
    return [
      { message: `${name}.yaml holds the operation ${operation.operationId}.`, path: [...context.path, "operationId"] },
    ];
}
