import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Ajv from 'ajv'
import { root } from './fixture.ts'

const schema = (name: string): object =>
  JSON.parse(
    readFileSync(
      join(root, 'node_modules/@cyclonedx/cyclonedx-library/res/schema', `${name}.SNAPSHOT.schema.json`),
      'utf8',
    ),
  )

const referred = Object.fromEntries(
  ['spdx', 'jsf-0.82', 'cryptography-defs'].map((name) => [
    `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`,
    schema(name),
  ]),
)

// The formats of addresses and times are not checked: the documents have none.
const isValid = new Ajv({ strict: false, validateFormats: false, schemas: referred }).compile(schema('bom-1.6'))

/** What the schema of CycloneDX 1.6 finds wrong with a document. */
export const sbomProblems = (document: unknown): readonly unknown[] =>
  isValid(document) ? [] : (isValid.errors ?? ['unknown'])
