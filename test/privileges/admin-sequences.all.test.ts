/** Runs with `--all`: further random sequences of requests to the admin API. admin-api.test.ts has a few. */
import { testAdminApi } from './admin-sequences.ts'

testAdminApi({ sqlite: 8, postgres: 2 })
