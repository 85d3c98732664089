"""What a run will take: pairs, cells, hours, bytes and cost, before it is begun."""
