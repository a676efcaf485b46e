import { expect, test } from 'bun:test'
import { auditActions } from '../../../plugins/shared/audit.ts'

test('the page names every action of the audit trail', async () => {
  // A module of the browser, which has no types for this side.
  const page = new URL('../../../plugins/console/page/admin/audit/actions.js', import.meta.url).href
  const { auditActions: pageActions } = await import(page)
  expect(pageActions).toEqual([...auditActions])
})
