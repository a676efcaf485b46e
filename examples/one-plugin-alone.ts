/** Pages and page tokens for your own list, with one plugin only. Try /books?Author=Le%20Guin&PageSize=1 */
import { Elysia } from 'elysia'
import { createNodeServer } from 'sluice'
import { type ListRules, paginationNormalizer } from 'sluice/pagination-normalizer'

const books = [
  { id: '1', author: 'Le Guin', title: 'The Dispossessed', year: '1974' },
  { id: '2', author: 'Le Guin', title: 'The Lathe of Heaven', year: '1971' },
  { id: '3', author: 'Lem', title: 'Solaris', year: '1961' },
]

const bookList: ListRules = {
  endpoint: 'books',
  filters: { Author: { kind: 'text', max: 64 } },
  sortBy: ['Year', 'Title'],
}

export const app = new Elysia().use(paginationNormalizer({ secrets: ['sixteen bytes or more'] })).get(
  '/books',
  ({ listing }) => {
    const matching = books.filter((book) => !listing.filter.Author || book.author === listing.filter.Author)
    const rows = matching.map((book) => ({ ...book, key: listing.sortBy === 'Year' ? book.year : book.title }))
    return listing.page(rows, 'everybody')
  },
  { lists: bookList },
)

if (import.meta.main) await createNodeServer(app).listen(3000)
