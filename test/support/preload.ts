import { afterAll, afterEach } from 'bun:test'
import './temporary-files.ts'
import './memory-template.ts'
import { takeProblems } from './checked-servers.ts'

/** Fails the test during which a gateway has sent a response that its OpenAPI document does not describe. */
const failOnProblems = (): void => {
  const problems = takeProblems()
  if (problems.length > 0)
    throw new Error(`responses that the OpenAPI document does not describe:\n${[...new Set(problems)].join('\n')}`)
}

afterEach(failOnProblems)
afterAll(failOnProblems)
