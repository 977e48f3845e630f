// Holds OpenAPI documents to the two parsers that most tools of JavaScript are made of.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(`${process.env.FORECOURT_SDK}/package.json`);
const load = async (name) => import(require.resolve(name));
const { default: SwaggerParser } = await load('@apidevtools/swagger-parser');
const { validate, compileErrors } = await load('@readme/openapi-parser');

for (const path of process.argv.slice(2)) {
  const read = () => JSON.parse(readFileSync(path));
  await SwaggerParser.validate(read());
  const result = await validate(read());
  if (!result.valid) throw new Error(`${path}: ${compileErrors(result)}`);
}
