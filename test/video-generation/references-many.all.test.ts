/** Runs with `--all`: 100 tasks of 700 pictures on each database. references.test.ts has 30. */
import { describe } from 'bun:test'
import { databaseNames } from '../support/database.ts'
import { testManyTasks } from './references-many.ts'

describe.each(databaseNames)('references: auto (%s)', (kind) => testManyTasks(kind, 100))
