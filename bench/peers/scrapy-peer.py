# Scrapy as its manual has it: follow every link, obey robots.txt, keep the queue in JOBDIR. Stores nothing of a page.
# Run as: scrapy runspider scrapy-peer.py -a seeds=FILE -s JOBDIR=DIR …
import scrapy


class Peer(scrapy.Spider):
    name = "peer"

    def __init__(self, seeds, **kwargs):
        super().__init__(**kwargs)
        with open(seeds, encoding="utf-8") as lines:
            self.start_urls = lines.read().split()

    def parse(self, response):
        if not isinstance(response, scrapy.http.TextResponse):
            return
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse)
