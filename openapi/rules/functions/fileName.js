/** Reports an operation whose own file is not named after its operationId. */
export default function fileName(operation, _options, context) {
  const source = context.documentInventory.findAssociatedItemForPath(context.path, true)?.document.source;
  if (!source || source === context.documentInventory.source) return;
  const name = source
    .split(/[\\/]/)
    .pop()
    .replace(/\.ya?ml$/, "");
  if (name !== operation.operationId)
    return [
      { message: `${name}.yaml holds the operation ${operation.operationId}.`, path: [...context.path, "operationId"] },
    ];
}
