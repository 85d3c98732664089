"""Distances of all pairs, guide trees and plots of them."""
